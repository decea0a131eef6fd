"""The examples in docs/noise.md give the output that is shown."""

import doctest
from pathlib import Path

GUIDE = Path(__file__).parents[2] / "docs" / "noise.md"


def test_examples_of_the_guide_run():
    result = doctest.testfile(str(GUIDE), module_relative=False)
    assert result.attempted > 20
    assert result.failed == 0
