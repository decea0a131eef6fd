"""The pages of the documentation are what the scripts print from stored results."""

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"


def sections(text):
    """Return the parts of a page by heading."""
    parts = [part.strip() for part in text.split("\n## ")[1:]]
    return {part.partition("\n")[0]: part for part in parts}


def benchmarks():
    """Return the parts of the page of results and of the one behind it."""
    names = ("benchmarks.md", "benchmarks-in-detail.md")
    pages = [sections((DOCS / name).read_text(encoding="utf-8")) for name in names]
    assert not pages[0].keys() & pages[1].keys()
    return pages[0] | pages[1]


def estimates(text):
    """Return the cells with a mean ± standard error."""
    cells = (cell.strip(" *") for cell in text.replace("\n", "|").split("|"))
    return {cell for cell in cells if re.fullmatch(r"\.\d+ ± \.\d+", cell)}


@pytest.fixture(scope="session")
def laptop(accuracy):
    return accuracy.fits.read_fits(accuracy.comparison.FOLDER / "laptop.jsonl")


@pytest.fixture(scope="session")
def tables(accuracy, laptop):
    """The printed tables of the preset laptop."""
    lines = [line for part in accuracy.tables.PARTS for line in part(laptop)]
    return "\n" + "\n".join(lines)


def test_the_page_of_tables_is_printed_from_the_results(tables):
    page = (DOCS / "benchmark-tables.md").read_text(encoding="utf-8")
    assert sections(page) == sections(tables)


def test_the_page_at_equal_cost_is_printed_from_the_results(accuracy, capsys):
    assert accuracy.comparison.main([]) == 0
    printed = sections("\n" + capsys.readouterr().out)
    assert len(printed) == len(accuracy.comparison.PARTS)
    page = sections((DOCS / "equal-cost-tables.md").read_text(encoding="utf-8"))
    assert len(page) == 2
    assert page.items() <= printed.items()


def test_the_page_of_prices_is_printed_from_the_results(accuracy, capsys):
    assert accuracy.price_tables.main() == 0
    page = (DOCS / "price-tables.md").read_text(encoding="utf-8")
    assert sections(page) == sections("\n" + capsys.readouterr().out)


@pytest.mark.parametrize(
    "heading",
    [
        "Gap closed at all noise rates",
        "Rows in which another method is better",
        "Stop rules",
        "The paper's two methods and CrossPrestopping",
        "History length",
    ],
)
def test_the_discussion_repeats_lines_of_the_tables(tables, heading):
    page = benchmarks()
    _, *repeated = [
        line
        for line in page[heading].splitlines()
        if line.startswith("| ") or line.endswith(" rows)")
    ]
    assert repeated
    # One of the tables is repeated without a column that is empty in these lines.
    assert set(repeated) <= set(tables.replace("** |  |", "** |").splitlines())


def test_the_readme_repeats_test_errors(accuracy, laptop):
    own = accuracy.tables.PRESTOPPING_METHODS
    methods = ["Default", "CleanLearning", "Co-teaching", *own]
    means = accuracy.tables.means_of(laptop, methods).mean
    found = {tuple(line) for line in means.map(accuracy.layout.percent).to_numpy()}
    readme = (DOCS.parent / "README.md").read_text(encoding="utf-8")
    _, _, table = readme.partition("| data | wrong labels | plain training |")
    rows = table.partition("\n\n")[0].replace("*", "").splitlines()[2:]
    assert rows
    for row in rows:
        assert tuple(cell.strip() for cell in row.split("|")[3:-1]) in found


def test_label_scores_are_printed_from_the_results(accuracy, capsys):
    assert accuracy.quality_table.main([]) == 0
    printed = sections("\n" + capsys.readouterr().out)
    assert len(printed) == len(accuracy.ranking.METRICS)
    page = benchmarks()
    shown = printed["Average precision of finding wrong labels"]
    repeated = estimates(page["Finding wrong labels"])
    assert len(repeated) > 30
    assert repeated <= estimates(shown.replace("0.", "."))


def test_figures_are_drawn_from_the_results(accuracy, laptop, tmp_path):
    results = accuracy.comparison.FOLDER / "laptop.jsonl"
    assert accuracy.figures.main([str(results), str(tmp_path)]) == 0
    drawn = {picture.name for picture in tmp_path.iterdir()}
    assert drawn == {path.name for path in (DOCS / "figures").glob("benchmark_*")}


def test_a_file_without_results_is_named(accuracy, tmp_path):
    with pytest.raises(SystemExit, match="There are no results in .*none.jsonl"):
        accuracy.fits.read_fits(tmp_path / "none.jsonl")
