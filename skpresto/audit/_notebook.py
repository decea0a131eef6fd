"""A report as a small piece of HTML, for notebooks."""

from html import escape
from typing import Any

from skpresto.audit._summary import LabelSummary
from skpresto.plots._axes import frame_of

_N_SUSPECTS = 10


def notebook_html(summary: LabelSummary, suspects: Any) -> str:
    """Return headline, classes and first suspects; all text is escaped."""
    head, lines = summary.table()
    classes = frame_of([dict(zip(head, line, strict=True)) for line in lines])
    first = suspects.head(_N_SUSPECTS)[["given", "suggested", "quality"]]
    return (
        f"<p><strong>LabelReport</strong> by {escape(summary.method)}: "
        f"{escape(summary.headline())}</p>{classes.to_html(index=False, border=0)}"
        f"<p>Review first:</p>{first.to_html(border=0, float_format='{:.3f}'.format)}"
    )
