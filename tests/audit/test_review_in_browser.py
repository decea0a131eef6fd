"""The review at speed in a real browser: many at once, search, reviewers, ids.

Skipped without playwright or a Chromium; ``make test-browser`` installs both.
"""

import json
import re
import time

import numpy as np
import pandas as pd
import pytest

from skpresto.audit import LabelReport

CLASSES = np.array(["ant", "bee", "Chinese Crested Dog", "dog <b>", "eel"])
#: Given and true class of labels that are wrong together, and how many there are.
PAIRS = {(0, 1): 80, (1, 2): 70, (2, 3): 50}
TOPS = "[...document.querySelectorAll('#list .card')].map((card) => card.offsetTop)"
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True}


def make_labels():
    """Return true labels, given ones of which 300 are wrong, and probabilities."""
    rng = np.random.RandomState(0)
    y = np.repeat(np.arange(5), 240)
    given = y.copy()
    for (wrong, true), n in PAIRS.items():
        given[rng.permutation(np.flatnonzero(y == true))[:n]] = wrong
    for row in rng.permutation(np.flatnonzero(given == y))[:100]:
        rest = [k for k in range(5) if k != y[row] and (k, y[row]) not in PAIRS]
        given[row] = rng.choice(rest)
    likely = 0.02 + 0.05 * rng.uniform(size=(1200, 5)) + 0.6 * np.eye(5)[y]
    return y, given, likely / likely.sum(axis=1, keepdims=True)


@pytest.fixture(scope="module")
def report():
    """A report with 300 suspects, ids that look like markup, and trajectories."""
    _, given, probability = make_labels()
    ids = pd.Index([f"A<b>{i}" for i in range(1200)], name="sku <i>")
    notes = [f"note {i} {'urgent' if i % 7 == 0 else ''}" for i in range(1200)]
    X = pd.DataFrame({"size": np.arange(1200.0), "note": notes}, index=ids)
    made = LabelReport.from_probabilities(probability, CLASSES[given], CLASSES, X=X)
    made.trajectories = np.tile(np.linspace(0, 1, 40, dtype=np.float32), (1200, 1))
    assert made.is_suspect.sum() == 300
    return made


@pytest.fixture(scope="module")
def path(report, tmp_path_factory):
    return report.to_html(tmp_path_factory.mktemp("pages") / "page.html")


@pytest.fixture(scope="module")
def pictures(report, tmp_path_factory):
    pixels = np.random.RandomState(0).randint(255, size=(1200, 64, 64, 1))
    path = tmp_path_factory.mktemp("pages") / "pictures.html"
    return report.to_html(path, shown=pixels.astype(np.uint8), top=80)


@pytest.fixture
def opened(page, path):
    page.goto(path.as_uri())
    return page


def said(page):
    return page.locator("#announce:not(:empty)").inner_text()  # waits for a message


def progress(page):
    return page.locator("#progress-text").inner_text()


def press(page, *keys):
    for key in keys:
        page.keyboard.press(key)


def exported(page):
    with page.expect_download() as download:
        page.click("#export-json")
    return json.loads(download.value.path().read_text(encoding="utf-8"))


def load(page, content, tmp_path, name="decisions.json"):
    file = tmp_path / name
    file.write_text(json.dumps(content), encoding="utf-8")
    page.evaluate("document.getElementById('load-text').textContent = ''")
    page.set_input_files("#load", file)
    # The policy of the page forbids to wait for an expression.
    told = page.locator("#load-text", has_text=re.compile(r"\S"))
    told.wait_for(state="attached")
    return told.inner_text()


def test_300_suspects_are_settled_by_keys_in_two_minutes(opened, report):
    y, given, _ = make_labels()
    started = time.perf_counter()
    for (wrong, true), n in PAIRS.items():
        name = f"{n} given {CLASSES[wrong]}, suggested {CLASSES[true]}"
        cell = opened.get_by_role("button", name=name, exact=True)
        cell.focus()
        press(opened, "Enter", "Shift+A")
        assert f"for {n} undecided labels" in opened.locator("#all-text").inner_text()
        press(opened, "Enter")
        opened.locator("#announce", has_text=f"{n} labels: changed").wait_for()
        assert progress(opened).startswith(f"{n} of {n} decided (in all ")
    opened.reload()
    opened.select_option("#filter-given", label=CLASSES[2])
    opened.select_option("#filter-suggested", label=CLASSES[3])
    opened.locator("#reset-filters").focus()
    press(opened, "z")
    assert said(opened) == "50 decisions taken back"
    assert progress(opened) == "0 of 50 decided (in all 150 of 300)"
    press(opened, "Shift+A", "Enter")
    opened.click("#reset-filters")
    opened.select_option("#filter-status", "open")
    opened.click("#start")
    press(opened, *["a"] * 100)
    assert time.perf_counter() - started < 120
    assert progress(opened) == "300 of 300 decided"
    content = exported(opened)
    made = content["decisions"]
    together = [d["bulk"] for d in made if "bulk" in d]
    assert together.count("given ant, suggested bee (80 labels)") == 80
    assert len(together) == 200
    assert {d["row"]: d["label"] for d in made} == {
        row: CLASSES[y[row]] for row in np.flatnonzero(given != y)
    }
    # Nothing of it is a random sample, whoever pressed the key.
    assert not any("control" in d or "wrong" in d for d in made)
    assert not opened.locator("#headline-live").is_visible()
    opened.click("#tab-controls")
    assert not opened.locator("#all-accept").is_visible()
    press(opened, "Shift+A")
    assert said(opened) == "The control sample is decided one by one."
    assert progress(opened) == "0 of 200 decided"


def test_search_and_quality_narrow_the_list_and_what_is_kept(opened):
    press(opened, "/")
    opened.keyboard.type("URGENT a<b>")
    names = opened.locator("#list .text").all_inner_texts()
    assert 20 < len(names) <= 25
    assert all("urgent" in name for name in names)
    press(opened, "Enter", "k")
    n_found = int(progress(opened).split(" of ")[1].split()[0])
    assert progress(opened) == f"1 of {n_found} decided (in all 1 of 300)"
    opened.click("#all-keep")
    opened.fill("#all-comment", "rush orders")
    press(opened, "Enter")
    opened.locator("#announce", has_text=f"{n_found - 1} labels: kept").wait_for()
    record = exported(opened)["decisions"][1]
    assert record["decision"] == "keep"
    assert record["comment"] == "rush orders"
    assert record["bulk"] == f"with “urgent a<b>” ({n_found - 1} labels)"
    opened.click("#reset-filters")
    qualities = json.loads(opened.locator("#data").text_content())["items"]["quality"]
    limit = sorted(qualities)[11]
    opened.fill("#filter-below", str(limit))
    assert opened.locator("#list .card").count() == sum(q < limit for q in qualities)


def test_classes_are_offered_by_probability_and_new_ones_are_made(opened, report):
    press(opened, "o")
    assert said(opened).endswith("press O again to decide.")
    press(opened, "o")
    first = report.order[0]
    suggested = report.classes[report.suggested[first]]
    options = opened.locator("#class-list option").all_inner_texts()
    percents = [
        float(o.rsplit(" · ")[1].lstrip("> ").split()[0]) for o in options if " · " in o
    ]
    assert options[0].startswith(f"{suggested} · ")
    known = dict(
        zip(*(values[first].tolist() for values in report.likeliest), strict=True)
    )
    assert percents[0] == pytest.approx(100 * known[report.suggested[first]], abs=1)
    assert percents == sorted(percents, reverse=True)
    assert report.classes[report.given[first]] not in {
        o.split(" · ")[0] for o in options
    }
    new = "<img src=x onerror=alert(1)>"
    opened.keyboard.type(new)
    assert opened.locator("#class-list option").all_inner_texts() == [
        f"New class “{new}”"
    ]
    press(opened, "Enter")
    opened.locator("#announce", has_text=f"changed to {new}").wait_for()
    press(opened, "o")
    assert new in opened.locator("#class-list option").all_inner_texts()
    press(opened, "Escape")
    content = exported(opened)
    assert content["new_classes"] == [new]
    assert opened.locator("#list img").count() == 0


def test_hidden_suggestions_stay_hidden_in_the_dialog(opened, report):
    opened.check("#blind")
    press(opened, "k")  # the focus is on the box
    press(opened, "o")
    assert not opened.locator("#class-note").is_visible()
    options = opened.locator("#class-list option").all_inner_texts()
    assert options == [name for name in report.classes if name in options]
    press(opened, "Escape", "Shift+A")
    assert said(opened) == "Suggestions that are hidden cannot be accepted."


def test_discarded_rows_and_comments_reach_python(opened, report, tmp_path):
    press(opened, "d", "d")  # the first shows what it is about
    press(opened, "c")
    opened.keyboard.type("blurred <i>")
    assert "noted as unsure" in opened.locator("#comment-note").inner_text()
    press(opened, "Enter")
    opened.locator("#list .said", has_text="“blurred <i>”").wait_for()
    press(opened, "a")
    content = exported(opened)
    by_rank = {d["id"]: d for d in content["decisions"]}
    first, second = (report.index[i] for i in report.order[:2])
    assert by_rank[first]["decision"] == "discard"
    assert by_rank[second]["comment"] == "blurred <i>"
    assert by_rank[second]["decision"] == "accept"
    file = tmp_path / "decisions.json"
    file.write_text(json.dumps(content), encoding="utf-8")
    labels = report.decided_labels(file)
    assert first not in labels.index
    opened.click("#go-controls")
    press(opened, "d")
    assert not opened.locator("#headline-live").is_visible()  # neither right nor wrong
    press(opened, "k")
    assert "After 1 checked label" in opened.locator("#headline-live").inner_text()
    assert labels[second] == report.frame["suggested"][second]
    assert len(labels) == 1199


def test_keys_are_shown_and_say_why_they_do_not_act(opened):
    press(opened, "?")
    assert "accept the suggestion" in opened.locator("#keys-dialog").inner_text()
    press(opened, "?")
    opened.locator("#keys-dialog").wait_for(state="hidden")
    press(opened, "z")
    assert said(opened) == "There is no decision to take back."
    press(opened, "g")
    assert said(opened).startswith("A grid is for images")
    opened.fill("#search", "no such text")
    opened.locator("#search").blur()
    press(opened, "a")
    assert said(opened) == "No labels are listed, so there is nothing to decide."


@pytest.mark.parametrize("options", [{}, PHONE], ids=["desktop", "phone"])
def test_images_are_reviewed_in_a_grid_and_enlarged(new_page, pictures, options):
    page = new_page(**options)
    page.goto(pictures.as_uri())
    page.click("#grid")
    assert page.locator("#list .card").count() == 60
    tops = page.evaluate(TOPS)
    assert tops[0] == tops[1]
    page.locator("#list .card").nth(1).locator("[data-decision=accept]").click()
    assert progress(page) == "1 of 80 decided"
    page.locator("#list .thumb").nth(0).click()
    large = page.locator("#large .thumb").bounding_box()
    assert (
        large["width"]
        > 1.5 * page.locator("#list .thumb").nth(0).bounding_box()["width"]
    )
    page.locator("#large-dialog button").click()
    page.click("#undo")
    assert progress(page) == "0 of 80 decided"
    width = page.viewport_size["width"]
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_grid_is_walked_by_arrows(page, pictures):
    page.goto(pictures.as_uri())
    press(page, "g", "ArrowRight", "ArrowDown")
    tops = page.evaluate(TOPS)
    columns = tops.count(tops[0])
    focused = page.locator("#list .card:focus")
    assert int(focused.get_attribute("data-place")) == columns + 1
    press(page, "v")
    assert page.locator("#large .thumb").is_visible()
    press(page, "v", "u")
    assert progress(page) == "1 of 80 decided"


def test_many_are_decided_and_taken_back_by_touch(new_page, path):
    page = new_page(**PHONE)
    page.goto(path.as_uri())
    page.select_option("#filter-given", label="ant")
    page.locator("#all-accept").tap()
    page.locator("#all-do").tap()
    page.locator("#announce", has_text="changed to the suggestion").wait_for()
    assert not progress(page).startswith("0 of")
    page.locator("#undo").tap()
    assert progress(page).startswith("0 of")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def reviewed(page, path, name, keys):
    page.goto(path.as_uri())
    page.fill("#reviewer", name)
    page.click("#start")
    press(page, *keys)
    return exported(page)


def test_two_reviewers_are_merged(new_page, path, report, tmp_path):
    ben = reviewed(new_page(), path, "ben <b>", "aakud")
    page = new_page()
    reviewed(page, path, "anna", "akku")
    text = load(page, ben, tmp_path)
    assert text == "5 decisions loaded. 1 differ from those that were here."
    shown = page.locator("#agreement").inner_text()
    assert shown == "anna and ben <b> agree on 3 of 4 labels (75 %)."
    page.click("#show-disputed")
    card = page.locator("#list .card")
    assert card.count() == 1
    suggested = report.frame["suggested"].iloc[report.order[1]]
    assert progress(page) == "0 of 1 decided (in all 5 of 300)"
    said_of_it = f"anna: kept · ben <b>: changed to {suggested}"
    assert card.locator(".said").inner_text() == said_of_it
    press(page, "u")
    assert progress(page).startswith("1 of 1 decided")
    assert not page.locator("#show-disputed").is_visible()
    made = {d["id"]: d for d in exported(page)["decisions"]}
    assert len(made) == 5
    disputed = made[report.index[report.order[1]]]
    assert (disputed["label"], disputed["by"]) == (None, "anna")
    assert [(o["by"], o["decision"]) for o in disputed["opinions"]] == [
        ("anna", "keep"),
        ("ben <b>", "accept"),
    ]
    only_ben = made[report.index[report.order[4]]]
    assert (only_ben["by"], only_ben["decision"]) == ("ben <b>", "discard")
    load(page, ben, tmp_path)  # once more: what is settled stays settled
    assert not page.locator("#show-disputed").is_visible()
    press(page, "z")
    press(page, "z")
    assert page.locator("#show-disputed").is_visible()
    press(page, "z")
    assert page.locator("#n-decided").inner_text() == "4"


def test_unnamed_reviewers_are_told_apart_by_their_file(new_page, path, tmp_path):
    first = new_page()
    first.goto(path.as_uri())
    press(first, "a", "a", "k")
    theirs = exported(first)
    assert load(first, theirs, tmp_path) == "2 decisions loaded."
    assert first.locator("#agreement").inner_text() == ""
    second = new_page()
    second.goto(path.as_uri())
    press(second, "k", "k", "k")
    named = {**theirs, "reviewer": "dora"}
    load(second, named, tmp_path)
    assert "dora and this browser agree" in second.locator("#agreement").inner_text()
    press(second, "z")
    load(second, theirs, tmp_path, "carla.json")
    shown = second.locator("#agreement").inner_text()
    assert shown == "carla and this browser agree on 1 of 2 labels (50 %)."


def test_decisions_are_carried_over_by_ids(new_page, path, report, tmp_path):
    page = new_page()
    page.goto(path.as_uri())
    press(page, "a", "a", "k", "a", "o")
    page.keyboard.type("wasp")
    press(page, "Enter")
    content = exported(page)
    # Backwards, without the fourth row, and with another label in the third.
    order = np.setdiff1d(np.arange(1200), report.order[3])[::-1]
    y = report.frame["given"].copy()
    third = report.index[report.order[2]]
    y[third] = "eel" if y[third] != "eel" else "bee"
    _, _, probability = make_labels()
    later = LabelReport.from_probabilities(
        probability[order], y.iloc[order], CLASSES, X=report.X.iloc[order]
    )
    page.goto(later.to_html(tmp_path / "later.html").as_uri())
    text = load(page, content, tmp_path)
    assert text.startswith("2 decisions loaded, by their ids.")
    assert "1 are left out, since the given label is another one now." in text
    made = {d["id"]: d["label"] for d in exported(page)["decisions"]}
    first, second, *_ = (report.index[i] for i in report.order)
    assert made[first] == report.frame["suggested"][first]
    assert made[second] == report.frame["given"][second]
    again = exported(page)
    file = tmp_path / "again.json"
    file.write_text(json.dumps(again))
    assert later.decided_labels(file)[first] == report.frame["suggested"][first]


def test_decisions_of_the_first_version_are_loaded(opened, report, tmp_path):
    fingerprint = json.loads(opened.locator("#data").text_content())["fingerprint"]
    row = int(report.order[0])
    given = str(report.frame["given"].iloc[row])
    old = {"row": row, "given": given, "decision": "keep", "label": given}
    content = {"version": 1, "fingerprint": fingerprint, "decisions": [old]}
    assert load(opened, content, tmp_path) == "1 decisions loaded."
    assert opened.locator("#list .card.decided").count() == 1


@pytest.mark.parametrize("width", [390, 1280])
def test_class_names_do_not_break_inside_a_word(new_page, path, width):
    page = new_page(viewport={"width": width, "height": 800})
    page.goto(path.as_uri())
    heights = page.evaluate(
        """() => [...document.querySelectorAll('.label')].flatMap((node) => {
        const range = document.createRange(), text = node.firstChild;
        return !text ? [] : [...text.data.matchAll(/\\S+/g)].map((word) => {
          range.setStart(text, word.index);
          range.setEnd(text, word.index + word[0].length);
          return range.getClientRects().length; }); })"""
    )
    assert set(heights) == {1}
    spark = page.locator("#list .spark").first
    assert spark.locator("figcaption").inner_text().startswith("probability of ")
    assert spark.locator("text").all_text_contents() == ["1", "0", "epoch 1", "40"]


def test_the_rules_of_accessibility_are_kept(new_page, path, pictures):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    for opened, options in [(path, PHONE), (pictures, {"color_scheme": "dark"})]:
        page = new_page(bypass_csp=True, **options)  # the rules are a script, too
        page.goto(opened.as_uri())
        found = axe.run(page)
        assert found.violations_count == 0, found.generate_report()
