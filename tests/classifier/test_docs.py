"""docs/your-own-network.md is complete; its examples run in tests/docs."""

from pathlib import Path

from skpresto._classifier.spec import SIZE_NAMES

PAGE = Path(__file__).parents[2] / "docs" / "your-own-network.md"


def test_every_name_of_a_size_is_described():
    text = PAGE.read_text(encoding="utf-8")
    assert all(f"`{name}`" in text for names in SIZE_NAMES.values() for name in names)
