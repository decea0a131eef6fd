"""The examples of the user guide run, and its pictures are there."""

import doctest
import re
from pathlib import Path

import skpresto.plots

GUIDE = Path(__file__).parents[2] / "docs" / "plots.md"


def test_examples_of_the_guide_run():
    result = doctest.testfile(str(GUIDE), module_relative=False)
    assert result.attempted > 20
    assert result.failed == 0


def test_pictures_of_the_guide_are_there_and_small():
    names = re.findall(r"!\[.+\]\((.+)\)", GUIDE.read_text(encoding="utf-8"))
    pictures = [GUIDE.parent / name for name in names]
    assert len(pictures) == len(set(pictures)) == 9
    assert all(picture.stat().st_size < 100_000 for picture in pictures)


def test_every_display_is_in_the_guide():
    guide = GUIDE.read_text(encoding="utf-8")
    assert all(f"`{name}`" in guide for name in skpresto.plots.__all__)
