"""Every public name has a page in the API reference."""

import importlib
import inspect
import json
import pkgutil
import sys
from pathlib import Path

import pytest

import skpresto

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def extensions():
    """Make the modules in docs/_ext importable for a while."""
    sys.path.insert(0, str(ROOT / "docs" / "_ext"))
    yield importlib.import_module
    sys.path.remove(str(ROOT / "docs" / "_ext"))


def offered(module):
    """Return the public names of a module, without the help of docs/_ext."""
    if hasattr(module, "__all__"):
        return set(module.__all__)
    defined = inspect.getmembers(
        module, lambda value: getattr(value, "__module__", "") == module.__name__
    )
    return {name for name, value in defined if not name.startswith("_")}


def test_every_public_name_has_a_page(extensions, tmp_path):
    documented = extensions("reference_pages").write_reference(tmp_path)
    found = pkgutil.walk_packages(skpresto.__path__, "skpresto.")
    modules = ["skpresto", *(info.name for info in found if "._" not in info.name)]
    modules.remove("skpresto.cli")  # a program
    assert {"skpresto.noise", "skpresto.metrics", "skpresto.audit"} < set(modules)
    wanted = {
        f"{name}.{public}"
        for name in modules
        for public in offered(importlib.import_module(name))
    }
    assert wanted == set(documented)
    assert len(wanted) > 50
    overview = (tmp_path / "index.rst").read_text(encoding="utf-8")
    for name in wanted:
        assert (tmp_path / f"{name}.rst").exists()
        assert f"<{name}>" in overview


def test_a_page_describes_own_methods_and_names_inherited_ones(extensions, tmp_path):
    extensions("reference_pages").write_reference(tmp_path)
    page = (tmp_path / "skpresto.PrestoppingClassifier.rst").read_text(encoding="utf-8")
    assert "automethod:: PrestoppingClassifier.fit\n" in page
    assert "automethod:: PrestoppingClassifier.get_params" in page  # our own
    assert "automethod:: PrestoppingClassifier.score" not in page
    assert "``score``" in page
    report = (tmp_path / "skpresto.audit.LabelReport.rst").read_text(encoding="utf-8")
    assert "autoproperty:: LabelReport.frame\n" in report


def test_pages_that_do_not_change_are_not_written_again(extensions, tmp_path):
    pages = extensions("reference_pages")
    (tmp_path / "skpresto.Removed.rst").touch()
    pages.write_reference(tmp_path)
    assert not (tmp_path / "skpresto.Removed.rst").exists()
    before = {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    pages.write_reference(tmp_path)
    assert before == {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()}


def test_the_command_line_is_described(extensions, tmp_path):
    extensions("reference_pages").write_reference(tmp_path)
    page = (tmp_path / "command-line.rst").read_text(encoding="utf-8")
    assert "skpresto audit train.csv --label species" in page
    assert "--move-to" in page


def test_dead_links_are_found(extensions, tmp_path):
    (tmp_path / "a.html").write_text(
        '<a href="b.html#here"></a><a href="b.html#there"></a><a href="c.html"></a>'
        '<a href="https://example.org/x"></a><img src="d.png">',
        encoding="utf-8",
    )
    (tmp_path / "b.html").write_text('<h1 id="here"></h1>', encoding="utf-8")
    found = [address for _, address in extensions("check_links").dead_links(tmp_path)]
    assert found == ["b.html#there", "c.html", "d.png"]


def test_clicks_are_counted(extensions, tmp_path):
    pytest.importorskip("snowballstemmer")  # a part of Sphinx
    (tmp_path / "index.html").write_text('<a href="a/"></a>', encoding="utf-8")
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "index.html").write_text('<a href="b.html">', encoding="utf-8")
    (tmp_path / "a" / "b.html").write_text('<a href="../index.html">', encoding="utf-8")
    away = extensions("check_site").clicks(tmp_path)
    assert sorted(away.values()) == [0, 1, 2]


def test_the_first_figure_shows_what_is_gained_and_lost(extensions, tmp_path):
    fit = {"data": "a", "noise": "pair", "rate": 0.2, "q": None, "rule": None}
    lines = [
        {**fit, "method": "Default", "seed": 0, "error_last": 0.30},
        {**fit, "method": "Default", "seed": 1, "error_last": 0.20},
        {**fit, "method": "Prestopping", "seed": 0, "q": 5, "error_last": 0.9},
        {**fit, "method": "Prestopping", "seed": 0, "q": 10, "error_last": 0.25},
    ]
    text = "\n".join(map(json.dumps, lines))
    (tmp_path / "laptop.jsonl").write_text(text, encoding="utf-8")
    figure = extensions("first_figure")
    gained = figure.gains(figure.read_errors(tmp_path), "Prestopping")
    # Seed 1 was not fitted by both, and q = 5 is not the default.
    assert gained == {("a", "pair", 0.2): (pytest.approx(30), pytest.approx(5))}


def test_the_readme_counts_the_rows_of_the_first_figure(extensions):
    figure = extensions("first_figure")
    results = ROOT / "benchmarks" / "accuracy" / "results"
    rows = figure.gains(figure.read_errors(results), "CrossPrestopping")
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert f" of {len(rows)} data sets and kinds of noise" in readme


def test_nothing_is_lost_where_no_row_is_worse(extensions):
    said = extensions("first_figure")._said_of_losses
    assert said([1.0, -0.04]) == "loses in none"
    assert said([1.0, -0.26]) == "loses up to 0.3"


def test_names_of_classes_lead_to_their_pages(extensions):
    pytest.importorskip("sphinx")
    names = extensions("api_links").documented_names()
    assert names["LabelReport"] == "skpresto.audit.LabelReport"
    assert "fit" not in names


def test_phrases_of_the_search_are_of_pages_that_exist(extensions):
    pytest.importorskip("sphinx")
    pages = extensions("search_words").PHRASES
    assert all((ROOT / "docs" / f"{page}.md").exists() for page in pages)


def test_the_header_shows_addresses_that_are_known(extensions):
    urls = extensions("project_links").project_urls()
    assert set(urls) <= {"Repository", "Issues"}
    assert all(url.startswith("https://") for url in urls.values())


def test_names_that_take_two_lines_have_one_description(extensions):
    lines = inspect.getdoc(skpresto.CrossPrestoppingClassifier).splitlines()
    names = [line for line in lines if line.startswith("class_weight, ")]
    (first,) = names
    extensions("name_lists").join_name_lists(None, "class", "", None, None, lines)
    place = next(i for i, line in enumerate(lines) if line.startswith(first))
    assert (
        lines[place]
        == f"{first}, callbacks, n_jobs, random_state, verbose, **net_params"
    )
    assert lines[place + 1].startswith("    How networks are trained")


def test_ordinary_lines_are_not_joined(extensions):
    lines = ["a, b", "    Both.", "c : int", "d, e", "", "f, g", "Words, more words."]
    before = list(lines)
    extensions("name_lists").join_name_lists(None, "class", "", None, None, lines)
    assert lines == before
