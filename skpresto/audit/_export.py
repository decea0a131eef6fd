"""Reports as CSV and JSON."""

import csv
import json
import re
from pathlib import Path
from typing import Any

from skpresto.audit._safe_write import write_texts

#: What a spreadsheet takes for a formula. Numbers with a sign are none.
_FORMULA = re.compile(r"[=@\t\r]|[+-](?!\d*\.?\d+(e[+-]?\d+)?\Z)", re.IGNORECASE)


def defused(value: Any) -> Any:
    """Return what a spreadsheet does not run as a formula; most values unchanged.

    Examples
    --------
    >>> defused("=1+1"), defused("cat"), defused("-1"), defused(Path("@file"))
    ("'=1+1", 'cat', '-1', "'@file")
    """
    return f"'{value}" if _FORMULA.match(str(value)) else value


def csv_text(frame: Any, **options: Any) -> str:
    """Return a DataFrame as CSV, in which no cell begins as a formula does.

    ``options`` are further ones of ``DataFrame.to_csv``.
    """
    import pandas as pd

    index = frame.index
    levels = [index.get_level_values(level) for level in range(index.nlevels)]
    unnamed = ["row"] if len(levels) == 1 else [f"row {i}" for i in range(len(levels))]
    names = [u if n is None else n for n, u in zip(index.names, unnamed, strict=True)]
    columns = [*levels, *(frame[name] for name in frame.columns)]
    safe = pd.DataFrame({i: _safe_column(column) for i, column in enumerate(columns)})
    head = [str(defused(name)) for name in (*names, *frame.columns)]
    options |= {"header": head, "index": False, "lineterminator": "\n"}
    text = str(safe.to_csv(**options))
    if "\r" in text:  # would end a line unless it is quoted
        text = str(safe.to_csv(quoting=csv.QUOTE_NONNUMERIC, **options))
    return text


def _safe_column(column: Any) -> Any:
    """Return an index or a column; of numbers and dates as it is."""
    import pandas as pd

    if getattr(column.dtype, "kind", "O") in "biufmM":
        return column.array
    return pd.Series([defused(value) for value in column.tolist()], dtype=object)


def json_text(frame: Any, summary: dict[str, Any]) -> str:
    """Return the rows of a DataFrame and a summary as JSON."""
    flat = frame.set_axis(frame.index.to_flat_index())
    rows = flat.reset_index(names="row").to_dict("records")
    return json.dumps({"summary": summary, "labels": rows}, default=str)


def text_or_file(text: str, path: Any) -> str | None:
    """Write a text to a file; return it instead if there is no path."""
    if path is None:
        return text
    write_texts({Path(path): text}, overwrite=True)
    return None
