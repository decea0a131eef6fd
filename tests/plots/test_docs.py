"""The figures of docs/plots.md exist; its examples run in tests/docs."""

import re
from pathlib import Path

import skpresto.plots

GUIDE = Path(__file__).parents[2] / "docs" / "plots.md"


def test_the_figures_of_the_guide_exist_and_are_small():
    names = re.findall(r"!\[.+\]\((.+)\)", GUIDE.read_text(encoding="utf-8"))
    figures = [GUIDE.parent / name for name in names]
    assert len(figures) == len(set(figures)) == 9
    assert all(figure.stat().st_size < 100_000 for figure in figures)


def test_every_display_is_described_in_the_guide():
    guide = GUIDE.read_text(encoding="utf-8")
    assert all(f"`{name}`" in guide for name in skpresto.plots.__all__)
