"""The gap closed by kind of noise: what a method is good for."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from cells import INSTANCE
from layout import markdown, paragraph, percent
from summary import Row, contender_of, pooled_fraction

if TYPE_CHECKING:
    from comparison import Comparison

PAIR, SYMMETRIC, REAL = "pair", "symmetric", "real"
#: Columns of the table.
KINDS = (PAIR, SYMMETRIC, INSTANCE, REAL)


def kind_of(row: Row) -> str:
    """Return the kind of noise of a row; noise that was not injected is real."""
    return row.noise if row.noise in KINDS else REAL


def by_kind(comparison: "Comparison") -> Iterator[str]:
    """Yield the pooled fraction of the gap that each method closes, by kind."""
    yield "## Gap closed by kind of noise\n"
    counts = {
        kind: sum(kind_of(row) == kind for row in comparison.noisy_rows)
        for kind in KINDS
    }
    found = ", ".join(f"{n} of {kind} noise" for kind, n in counts.items())
    yield from paragraph(f"In %, pooled over rows: {found}.")
    for name, methods in comparison.groups.items():
        yield f"### {name}\n"
        lines = [
            [method, *(percent(_closed(comparison, method, kind)) for kind in KINDS)]
            for method in methods
        ]
        yield from markdown(["method", *KINDS], lines)


def _closed(comparison: "Comparison", method: str, kind: str) -> float | None:
    gaps = [
        comparison.summary.gap(row, contender_of(method))
        for row in comparison.noisy_rows
        if kind_of(row) == kind
    ]
    return pooled_fraction([gap for gap in gaps if gap is not None])
