"""The examples in docs/datasets.md run, and every loader is mentioned."""

import doctest
from pathlib import Path

import skpresto.datasets as datasets

GUIDE = Path(__file__).parents[2] / "docs" / "datasets.md"


def test_examples_of_the_guide_run():
    result = doctest.testfile(str(GUIDE), module_relative=False)
    assert result.attempted > 15
    assert result.failed == 0


def test_every_loader_is_in_the_guide():
    text = GUIDE.read_text(encoding="utf-8")
    assert [name for name in datasets.__all__ if f"`{name}`" not in text] == []
