"""The examples of the page on networks run."""

import doctest
import warnings
from pathlib import Path

from sklearn.exceptions import ConvergenceWarning

from skpresto._estimators.build import SIZE_NAMES

PAGE = Path(__file__).parents[2] / "docs" / "your-own-network.md"


def test_the_examples_run():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        result = doctest.testfile(str(PAGE), module_relative=False)
    assert result.attempted > 20
    assert result.failed == 0


def test_every_name_of_a_size_is_described():
    text = PAGE.read_text(encoding="utf-8")
    assert all(f"`{name}`" in text for names in SIZE_NAMES.values() for name in names)
