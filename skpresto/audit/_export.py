"""Reports as CSV and JSON."""

import csv
import json
from pathlib import Path
from typing import Any

#: First characters by which a spreadsheet takes a cell for a formula.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def defused(value: Any) -> Any:
    """Return a text that a spreadsheet does not run as a formula; others unchanged.

    Examples
    --------
    >>> defused("=1+1"), defused("cat"), defused(-1)
    ("'=1+1", 'cat', -1)
    """
    if isinstance(value, str) and value.startswith(_FORMULA):
        return f"'{value}"
    return value


def csv_text(frame: Any) -> str:
    """Return a DataFrame as CSV, in which no text begins as a formula does."""
    safe = frame.copy()
    for name in safe.columns:
        if safe[name].dtype.kind not in "biuf":
            safe[name] = [defused(value) for value in safe[name].tolist()]
    safe.index = safe.index.map(defused)
    names = [str(name) for name in frame.index.names]
    labels = "row" if frame.index.names == [None] else list(map(defused, names))
    text = str(safe.to_csv(index_label=labels, lineterminator="\n"))
    if "\r" in text:  # would end a line unless it is quoted
        quoting = csv.QUOTE_NONNUMERIC
        text = safe.to_csv(index_label=labels, lineterminator="\n", quoting=quoting)
    return text


def json_text(frame: Any, summary: dict[str, Any]) -> str:
    """Return the rows of a DataFrame and a summary as JSON."""
    columns = {name: frame[name].tolist() for name in frame.columns}
    rows = [
        {"row": row, **dict(zip(columns, values, strict=True))}
        for row, *values in zip(frame.index.tolist(), *columns.values(), strict=True)
    ]
    return json.dumps({"summary": summary, "labels": rows}, default=str)


def written(text: str, path: Any) -> str | None:
    """Write a text to a file; return it instead if there is no path."""
    if path is None:
        return text
    Path(path).write_text(text, encoding="utf-8", newline="")
    return None
