"""The page on baselines names all of them; its examples run in tests/docs."""

from pathlib import Path

from skpresto import baselines, losses

PAGE = Path(__file__).parents[2] / "docs" / "baselines.md"


def test_every_name_is_described():
    text = PAGE.read_text(encoding="utf-8")
    assert all(f"`{name}" in text for name in [*baselines.__all__, *losses.__all__])
