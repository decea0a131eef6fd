"""The examples in docs/data.md give the output that is shown."""

import doctest
from pathlib import Path

import pytest

GUIDE = Path(__file__).parents[2] / "docs" / "data.md"


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore::skpresto.exceptions.SafeSetWarning")
def test_examples_of_the_guide_run():
    result = doctest.testfile(str(GUIDE), module_relative=False)
    assert result.attempted > 20
    assert result.failed == 0
