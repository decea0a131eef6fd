"""The table of an audit: one line per row of the input."""

import csv
import io
from collections.abc import Iterator
from typing import Any

from skpresto.audit._export import defused

COLUMNS = ("row", "given", "suggested", "quality", "is_safe")


def table_lines(report: Any, source: Any) -> Iterator[str]:
    """Yield the lines of a CSV file, in the order of the input.

    Rows that were left out have a line without values.

    Parameters
    ----------
    report : LabelReport
        The report.
    source : Source
        The input.
    """
    yield ",".join(COLUMNS) + "\n"
    frame = report.frame
    columns = (frame[name].tolist() for name in COLUMNS[1:])
    found = dict(zip(source.rows.tolist(), zip(*columns, strict=True), strict=True))
    names = source.row_keys()
    for row in range(source.n_rows):
        values = found.get(row)
        if values is None:
            yield _line([names[row], "", "", "", ""])
        else:
            given, suggested, quality, is_safe = values
            yield _line([names[row], given, suggested, f"{quality:.6g}", int(is_safe)])


def _line(values: list[Any]) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerow([_cell(value) for value in values])
    return out.getvalue()


def _cell(value: Any) -> Any:
    """Return a value that no spreadsheet takes for a formula; numbers stay."""
    try:
        float(value)
    except ValueError:
        return defused(value)
    return value
