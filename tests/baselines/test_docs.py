"""The page on baselines names all of them, and its examples run."""

import doctest
import warnings
from pathlib import Path

import pytest

from skpresto import baselines, losses

PAGE = Path(__file__).parents[2] / "docs" / "baselines.md"


@pytest.mark.parametrize("name", [*baselines.__all__, *losses.__all__])
def test_every_name_is_described(name):
    assert f"`{name}" in PAGE.read_text(encoding="utf-8")


def test_the_examples_run():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = doctest.testfile(str(PAGE), module_relative=False)
    assert result.attempted > 10
    assert result.failed == 0
