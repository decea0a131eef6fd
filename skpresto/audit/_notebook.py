"""A report as a small piece of HTML, for notebooks."""

from collections.abc import Sequence
from html import escape
from typing import Any

from skpresto.audit._summary import LabelSummary

_N_SUSPECTS = 10
_STYLE = "text-align:left;padding:0.2em 0.8em 0.2em 0"


def notebook_html(summary: LabelSummary, suspects: Any) -> str:
    """Return headline, classes and first suspects; all text is escaped."""
    first = suspects.head(_N_SUSPECTS)
    rows = [
        (row, given, suggested, f"{quality:.3f}")
        for row, given, suggested, quality, *_ in first.itertuples()
    ]
    return (
        f"<p><strong>LabelReport</strong> by {escape(summary.method)}: "
        f"{escape(summary.headline())}</p>"
        + _table(*summary.table())
        + "<p>Review first:</p>"
        + _table(("row", "given", "suggested", "quality"), rows)
    )


def _table(head: tuple[str, ...], rows: Sequence[tuple[Any, ...]]) -> str:
    lines = [_line("th", head), *(_line("td", row) for row in rows)]
    return f"<table>{''.join(lines)}</table>"


def _line(tag: str, cells: tuple[Any, ...]) -> str:
    inner = (f'<{tag} style="{_STYLE}">{escape(str(c))}</{tag}>' for c in cells)
    return f"<tr>{''.join(inner)}</tr>"
