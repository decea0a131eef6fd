"""Every loader is in docs/datasets.md; its examples run in tests/docs."""

from pathlib import Path

import skpresto.datasets as datasets

GUIDE = Path(__file__).parents[2] / "docs" / "datasets.md"


def test_every_loader_is_in_the_guide():
    text = GUIDE.read_text(encoding="utf-8")
    assert [name for name in datasets.__all__ if f"`{name}`" not in text] == []
