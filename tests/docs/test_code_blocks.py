"""The code of the guide and the recipes runs, and prints what is stated."""

import shlex

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.datasets import make_blobs

import skpresto
from skpresto.cli import main
from tests.docs.blocks import DOCS, Block, agrees, blocks_of

FILES = sorted(DOCS.glob("*.md"))
PAGES = {path.name: blocks_of(path) for path in FILES}
GUIDE = [
    name
    for name, blocks in PAGES.items()
    if name not in ("recipes.md", "index.md") and any(b.is_python for b in blocks)
]
RECIPES = list(dict.fromkeys(block.section for block in PAGES["recipes.md"]))


def may_warn(test):
    """Ignore what small examples warn of; any other warning fails the test."""
    for category in (
        "sklearn.exceptions.ConvergenceWarning",
        "skpresto.exceptions.SafeSetWarning",
    ):
        test = pytest.mark.filterwarnings(f"ignore::{category}")(test)
    # torch's own, while it exports to ONNX
    return pytest.mark.filterwarnings("ignore:.*LeafSpec:FutureWarning")(test)


@pytest.fixture
def names(tmp_path, monkeypatch):
    """Return the names that pages take for granted, in a folder of their own."""
    monkeypatch.chdir(tmp_path)
    matplotlib.use("Agg")
    X, y = make_blobs(n_samples=200, centers=3, random_state=0)
    X, y = X.astype(np.float32), np.array(["ant", "bee", "cow"])[y]
    classes = {name: getattr(skpresto, name) for name in skpresto.__all__}
    clf = skpresto.PrestoppingClassifier(max_epochs=10, random_state=0)
    given = {"X": X, "y": y, "y_noisy": y, "X_test": X[:20], "clf": clf}
    return {"__name__": "page", "np": np, "skpresto": skpresto, **classes, **given}


def run(blocks: list[Block], names: dict, capsys) -> int:
    """Run blocks in order; return how many ran."""
    n_run = 0
    for block in blocks:
        if not block.is_python or block.lacks() or "not run" in block.marks:
            continue
        capsys.readouterr()
        block.run(names)
        n_run += 1
        if block.output is not None:
            printed = capsys.readouterr().out
            assert agrees(printed, block.output), f"{block.page}: {printed}"
    plt.close("all")
    return n_run


@may_warn
@pytest.mark.parametrize("page", GUIDE)
def test_the_code_of_a_page_runs(page, names, capsys):
    ran = run(PAGES[page], names, capsys)
    shown = [b for b in PAGES[page] if b.is_python and "not run" not in b.marks]
    assert ran or all("needs" in block.marks for block in shown)


@may_warn
@pytest.mark.parametrize("recipe", RECIPES)
def test_a_recipe_runs_as_it_stands(recipe, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    blocks = [block for block in PAGES["recipes.md"] if block.section == recipe]
    if any(block.lacks() for block in blocks):
        pytest.skip("a package is missing or too old")
    assert run(blocks, {"__name__": "recipe"}, capsys) >= 1
    for block in blocks:
        if block.language == "bash" and "not run" not in block.marks:
            for line in block.code.strip().splitlines():
                program, *arguments = shlex.split(line)
                assert program == "skpresto"
                assert main(arguments) == 0


def test_there_are_ten_recipes_and_each_is_in_the_list():
    text = (DOCS / "recipes.md").read_text(encoding="utf-8")
    assert len(RECIPES) >= 10
    for recipe in RECIPES:
        anchor = recipe.lower().replace(",", "").replace(" ", "-")
        assert f"](#{anchor})" in text


def test_blocks_that_are_not_run_have_a_reason_and_are_few():
    left_out = [
        (page, block.line)
        for page, blocks in PAGES.items()
        for block in blocks
        if block.language in ("python", "pycon") and "not run" in block.marks
    ]
    assert len(left_out) <= 3


@may_warn
def test_code_of_the_first_page_runs(names, capsys):
    assert run(PAGES["index.md"], names, capsys) == 1
    (block,) = (block for block in PAGES["index.md"] if block.is_python)
    assert len([line for line in block.code.splitlines() if line.strip()]) == 6


def test_wrong_statements_and_broken_code_are_noticed():
    assert agrees("error 13.9% at 20", "error 12.0% at 20\n")
    assert not agrees("error 39.9%", "error 12.0%")
    assert not agrees("error 12.0%", "accuracy 12.0%")
    with pytest.raises(AssertionError, match="Expected"):
        Block("page", "", "pycon", ">>> 1 + 1\n3\n", 1).run({})
    with pytest.raises(ZeroDivisionError):
        Block("page", "", "python", "1 / 0", 1).run({})
