"""The page in a real browser: filter, sort, decide, reload, export, apply.

Skipped without playwright or a Chromium; ``make test-browser`` installs both.
"""

import dataclasses
import json
import time

import numpy as np
import pandas as pd
import pytest

from skpresto.audit import LabelReport
from skpresto.audit._page import About, write_page
from skpresto.cli import main

SCRIPT = "<script>document.title = 'run'</script></script><!--"
CLASSES = np.array(["=ant", "bee", "cat", f"dog {SCRIPT}"])


def make_table(n_rows, n_wrong):
    """Return a table with wrong labels in random rows, and probabilities."""
    rng = np.random.RandomState(0)
    y = rng.randint(4, size=n_rows)
    given = y.copy()
    wrong = rng.permutation(n_rows)[:n_wrong]
    given[wrong] = (y[wrong] + 1 + rng.randint(3, size=n_wrong)) % 4
    probability = 0.02 + 0.05 * rng.uniform(size=(n_rows, 4)) + 0.9 * np.eye(4)[y]
    frame = pd.DataFrame({"size": y + rng.normal(0, 0.1, n_rows), "note": SCRIPT})
    frame["note"] = [f"{SCRIPT} {i}" for i in range(n_rows)]
    frame["kind"] = CLASSES[given]
    return frame, probability / probability.sum(axis=1, keepdims=True)


@pytest.fixture(scope="module")
def audited(tmp_path_factory):
    """Return the folder of an audited CSV file with 60 wrong labels of 400."""
    folder = tmp_path_factory.mktemp("audited")
    frame, probability = make_table(400, 60)
    frame.to_csv(folder / "t.csv", index=False)
    np.savez(folder / "p.npz", pred_proba=probability, classes=CLASSES)
    arguments = ["--labels", str(folder / "t.csv"), "--label", "kind"]
    out = ["--out", str(folder / "page.html")]
    assert main(["audit", str(folder / "p.npz"), *arguments, *out]) == 0
    return folder


@pytest.fixture
def opened(page, audited):
    page.goto((audited / "page.html").as_uri())
    return page


def n_suspects(page):
    data = json.loads(page.locator("#data").text_content())
    return len(data["suspects"])


def decided(page):
    """Return what the page says about the number of decisions."""
    shown, total = page.locator("#progress-text").inner_text().split(" of ")
    assert total == f"{n_suspects(page)} decided"
    return int(shown)


def texts(page, selector):
    return page.locator(selector).all_inner_texts()


def decide(page, keys):
    """Press keys, with the focus on the list."""
    for key in keys:
        page.keyboard.press(key)


def downloaded(page, button):
    with page.expect_download() as download:
        page.click(button)
    return download.value.path().read_text(encoding="utf-8")


def test_texts_of_the_user_stay_text(opened):
    assert opened.title() == "Label audit: t.csv"
    assert opened.locator("#list script").count() == 0
    assert SCRIPT in opened.locator("#list .text").first.inner_text()
    assert f"dog {SCRIPT}" in texts(opened, ".classes .link")


def test_list_is_filtered_by_matrix_class_and_menu(opened):
    cell = opened.locator(".matrix button").first
    count = int(cell.inner_text())
    cell.click()
    assert opened.locator("#page-text").inner_text() == f"1\u2013{count} of {count}"
    assert cell.get_attribute("aria-pressed") == "true"
    given = set(texts(opened, "#list .label.given"))
    assert len(given) == len(set(texts(opened, "#list .label.suggested"))) == 1
    cell.click()
    assert (
        opened.locator("#page-text").inner_text().endswith(f"of {n_suspects(opened)}")
    )
    opened.click(".classes .link >> nth=1")
    assert set(texts(opened, "#list .label.given")) == {"bee"}
    opened.click("#reset-filters")
    opened.select_option("#filter-suggested", label="cat")
    assert set(texts(opened, "#list .label.suggested")) == {"cat"}


def test_list_is_sorted(opened):
    opened.select_option("#sort", "row")
    rows = [int(name.split()[1]) for name in texts(opened, "#list .name")]
    assert rows == sorted(rows)
    opened.select_option("#sort", "given")
    order = [
        list(CLASSES).index(label) for label in texts(opened, "#list .label.given")
    ]
    assert order == sorted(order)


def test_keys_decide_move_and_take_back(opened):
    opened.click("#start")
    focused = opened.locator("#list .card:focus")
    first = focused.locator(".name").inner_text()
    decide(opened, "ku")
    assert decided(opened) == 2
    decide(opened, ["ArrowUp", "ArrowUp"])
    assert focused.locator(".name").inner_text() == first
    pressed = focused.locator("[aria-pressed=true]").inner_text()
    assert "Keep" in pressed
    decide(opened, "z")
    assert decided(opened) == 1
    decide(opened, ["ArrowRight"])
    assert (
        opened.locator("#page-text").inner_text()
        == f"26\u201350 of {n_suspects(opened)}"
    )
    assert "taken back" in opened.locator("#announce").inner_text()


def test_other_class_is_chosen_by_keyboard(opened):
    opened.select_option("#filter-given", label="bee")
    opened.click("#start")
    name = opened.locator("#list .card:focus .name").inner_text()
    decide(opened, "ocat")
    decide(opened, ["Enter"])
    record = json.loads(downloaded(opened, "#export-json"))["decisions"][0]
    assert (record["name"], record["label"]) == (name, "cat")
    assert record["decision"] == "other"
    assert record["quality"] < 0.5
    assert record["probabilities"][record["suggested"]] > record["quality"]
    assert sum(record["probabilities"].values()) == pytest.approx(1, abs=0.01)
    decide(opened, ["Escape"])


def test_the_most_similar_labels_stand_beside_a_suspect(opened):
    card = opened.locator("#list .card").first
    similar = card.locator(".similar > div")
    for place, name in enumerate(["given", "suggested"]):
        label = card.locator(f".label.{name}").inner_text()
        shown = similar.nth(place).inner_text()
        assert shown.startswith(f"most similar {label} {SCRIPT}")
        assert " row " in shown
    opened.check("#blind")
    assert similar.nth(0).is_visible()
    assert not similar.nth(1).is_visible()
    opened.uncheck("#blind")


def test_reload_keeps_decisions(opened):
    opened.click("#start")
    decide(opened, "aku")
    opened.reload()
    assert decided(opened) == 3
    assert opened.locator("#list .card.decided").count() == 3
    opened.once("dialog", lambda dialog: dialog.accept())
    opened.click("#clear")
    assert decided(opened) == 0


def test_exported_decisions_give_the_corrected_table(opened, audited, tmp_path):
    opened.click("#start")
    decide(opened, "aaaku")
    decisions = tmp_path / "decisions.json"
    decisions.write_text(downloaded(opened, "#export-json"), encoding="utf-8")
    made = json.loads(decisions.read_text(encoding="utf-8"))["decisions"]
    clean = tmp_path / "clean.csv"
    arguments = ["apply", str(decisions), str(audited / "t.csv"), "--out", str(clean)]
    assert main(arguments) == 0
    before, after = (pd.read_csv(path) for path in (audited / "t.csv", clean))
    changed = {m["row"]: m["label"] for m in made if m["decision"] == "accept"}
    assert len(changed) == 3
    expected = before.assign(
        kind=[changed.get(row, kind) for row, kind in enumerate(before["kind"])]
    )
    pd.testing.assert_frame_equal(after, expected)


def test_table_export_holds_no_formulas(opened):
    opened.select_option("#filter-given", label="=ant")
    opened.click("#start")
    decide(opened, "k")
    text = downloaded(opened, "#export-csv")
    assert text.splitlines()[0] == (
        "row,id,name,given,suggested,decision,label,by,comment,bulk"
    )
    assert ",'=ant," in text
    assert ",=ant" not in text


def test_suggestions_are_hidden_until_decided(opened):
    opened.check("#blind")
    opened.click("#start")
    card = opened.locator("#list .card").first
    assert not card.locator(".label.suggested").is_visible()
    decide(opened, "a")  # cannot accept what cannot be seen
    assert decided(opened) == 0
    decide(opened, "k")
    assert card.locator(".label.suggested").is_visible()


def true_keys(page, is_wrong):
    """Decide the label that has the focus as somebody would who knows the truth."""
    name = page.locator("#list .card:focus .name").inner_text()
    given = page.locator("#list .card:focus .label.given").inner_text()
    if not is_wrong[int(name.split()[1])]:
        return page.keyboard.press("k")
    other = next(label for label in ("bee", "cat") if label != given)
    for key in ["o", *other]:
        page.keyboard.press(key)
    return page.keyboard.press("Enter")


def test_stated_precision_is_that_of_the_control_view(page, tmp_path):
    """120 keys in the ranked list change nothing; 50 answers give Python's numbers."""
    rng = np.random.RandomState(0)
    y = rng.randint(4, size=900)
    is_wrong = rng.uniform(size=900) < 0.2
    given = np.where(is_wrong, (y + 1 + rng.randint(3, size=900)) % 4, y)
    scores = rng.normal(size=(900, 4)) + 2.5 * np.eye(4)[y]
    probability = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    report = LabelReport.from_probabilities(probability, CLASSES[given], CLASSES)
    assert report.is_suspect.sum() > 150
    path = write_page(report, tmp_path / "page.html")
    page.goto(path.as_uri())
    page.click("#start")
    decide(page, "a" * 120)
    assert decided(page) == 120
    assert not page.locator("#headline-live").is_visible()
    page.click("#go-controls")
    assert page.locator("#progress-text").inner_text().startswith("0 of 200")
    assert not page.locator("#list .label.suggested").first.is_visible()
    for n_decided in range(1, 51):
        true_keys(page, is_wrong)
        page.locator("#progress-text", has_text=f"{n_decided} of 200").wait_for()
        page.locator(f"#list [data-place='{n_decided}']:focus").wait_for()
    made = json.loads(downloaded(page, "#export-json"))["decisions"]
    answers = {d["row"]: d["wrong"] for d in made if "wrong" in d}
    sample = report.control_sample(50).index
    assert answers == {row: bool(is_wrong[row]) for row in sample}
    after = dataclasses.replace(report, checked=answers)
    stated = json.loads(page.evaluate("document.body.dataset.live"))
    numbers = {
        "suspects": int(report.is_suspect.sum()),
        "first": 100,
        "all": 900,
    }
    for name, n in numbers.items():
        errors, found = after.expected_errors(n), stated[name]
        assert found["expected"] == pytest.approx(errors.expected, rel=1e-3)
        assert (found["low"], found["high"]) == errors[1:]
        truth = is_wrong[report.order[:n]].sum()
        assert errors.low <= truth <= errors.high
    part = stated["suspects"]["expected"] / numbers["suspects"]
    precision = page.locator("#precision").inner_text()
    assert f"After 50 checked labels, {100 * part:.0f} % of the" in precision
    page.click("#start")
    page.keyboard.press("z")
    assert "After 49 checked labels" in page.locator("#precision").inner_text()
    page.reload()
    assert "After 49 checked labels" in page.locator("#precision").inner_text()
    path = write_page(after, tmp_path / "again.html")
    page.goto(path.as_uri())
    assert "After 50 checked labels" in page.locator("#precision").inner_text()


def test_classes_are_sorted_by_any_column(opened):
    def values(column):
        cells = opened.locator(f".classes tbody tr > :nth-child({column + 1})").all()
        return [float(cell.get_attribute("data-value")) for cell in cells]

    assert values(4) == sorted(values(4), reverse=True)
    for column in (1, 3):
        opened.click(f".classes .sort >> nth={column}")
        assert values(column) == sorted(values(column), reverse=True)
        opened.click(f".classes .sort >> nth={column}")
        assert values(column) == sorted(values(column))


def test_decisions_of_other_data_are_not_loaded(opened, tmp_path):
    other = tmp_path / "other.json"
    other.write_text(json.dumps({"fingerprint": "0", "decisions": []}))
    seen = []
    opened.once("dialog", lambda d: (seen.append(d.message), d.accept()))
    opened.set_input_files("#load", other)
    opened.wait_for_function("document.getElementById('load').value === ''")
    opened.wait_for_timeout(200)
    assert seen == ["These are not decisions about this data."]


def test_page_is_readable_without_javascript(new_page, audited):
    page = new_page(java_script_enabled=False)
    page.goto((audited / "page.html").as_uri())
    assert page.locator("#list .card").count() == 25
    assert page.locator("noscript").count() == 1
    assert not page.locator("#start").is_visible()
    assert "labels are wrong" in page.locator("#headline").inner_text()


@pytest.mark.parametrize("width", [390, 1280])
def test_page_fits_its_window(opened, width):
    opened.set_viewport_size({"width": width, "height": 800})
    assert opened.evaluate("document.documentElement.scrollWidth") <= width


def test_every_control_has_a_name(opened):
    nameless = opened.evaluate(
        """[...document.querySelectorAll("button, select, input")].filter((e) =>
        !(e.getAttribute("aria-label") || e.innerText || (e.labels && e.labels.length)))
        .map((e) => e.outerHTML)"""
    )
    assert nameless == []


def test_ten_thousand_suspects_page_within_a_second(page, tmp_path):
    frame, probability = make_table(30_000, 12_000)
    report = LabelReport.from_probabilities(probability, frame.pop("kind"), CLASSES)
    about = About(title="many.csv")
    path = write_page(
        report, tmp_path / "many.html", shown=frame, about=about, top=10_000
    )
    assert path.stat().st_size < 6_000_000
    page.goto(path.as_uri())
    assert page.locator("#page-text").inner_text() == "1\u201325 of 10,000"
    for action in (
        lambda: page.click("#next"),
        lambda: page.select_option("#sort", "given"),
        lambda: page.select_option("#filter-given", label="bee"),
        lambda: page.keyboard.press("k"),
    ):
        started = time.perf_counter()
        action()
        page.evaluate("document.body.offsetHeight")
        assert time.perf_counter() - started < 1
