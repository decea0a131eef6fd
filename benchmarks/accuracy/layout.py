"""Numbers and tables as Markdown."""

import textwrap
from collections.abc import Callable, Iterator, Sequence

from summary import Estimate, Row, Summary

NOTHING = "\N{EN DASH}"


def percent(value: float | None) -> str:
    return NOTHING if value is None else f"{100 * value:.1f}"


def with_error(estimate: Estimate | None) -> str:
    """Return a mean and its standard error in percent."""
    if estimate is None:
        return NOTHING
    spread = "" if estimate.error is None else f" ± {100 * estimate.error:.1f}"
    return percent(estimate.mean) + spread


def paragraph(text: str) -> Iterator[str]:
    """Yield the lines of a paragraph and a blank line."""
    yield from textwrap.wrap(" ".join(text.split()), width=100)
    yield ""


def name_of(row: Row, summary: Summary) -> str:
    if not row.is_noisy:
        return f"{row.data}, clean"
    rate = summary.rates[row] if row.rate is None else row.rate
    return f"{row.data}, {row.noise} {100 * rate:.0f} %"


def markdown(head: Sequence[str], lines: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield the lines of a table and a blank line."""
    yield f"| {' | '.join(head)} |"
    yield "|" + "---|" * len(head)
    yield from (f"| {' | '.join(line)} |" for line in lines)
    yield ""


def table(
    summary: Summary,
    rows: Sequence[Row],
    columns: dict[str, Callable[[Row], str]],
    first: str = "data, noise",
) -> Iterator[str]:
    """Yield a table with one line per row and one column per function of the row."""
    lines = [[name_of(r, summary), *(f(r) for f in columns.values())] for r in rows]
    yield from markdown([first, *columns], lines)
