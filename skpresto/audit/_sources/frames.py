"""Tables as DataFrames: CSV and Parquet files, with labels as text."""

import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from skpresto.audit._sources.base import nearest_name
from skpresto.audit._sources.delimited import (
    Layout,
    check_unique,
    layout_of,
    wrong_encoding,
)

PARQUET_ENDINGS = (".parquet", ".pq")

#: What stands for a missing label. Words such as NA or None may be classes.
MISSING_LABELS = ["", "nan", "NaN", "NAN", "<NA>", "#N/A"]
_MISSING_VALUES = [
    *MISSING_LABELS,
    *("NA", "N/A", "n/a", "NULL", "null", "None", "-nan", "-NaN", "#NA", "1.#IND"),
]
#: Files that take long to read: their need of memory is stated beforehand.
_LARGE_FILE = 200 * 2**20
_N_PROBE_ROWS = 2000
#: Values between lowest and highest that float32 has to tell apart, as not those of
#: Unix times or long numbers of rows.
_FEWEST_VALUES = 2**20


def read_frame(
    path: Path,
    label: str,
    wanted: list[str],
    encoding: str | None,
    say: Callable[[str], None],
) -> pd.DataFrame:
    """Return a table with its label column as text.

    Parameters
    ----------
    path : Path
        A CSV or Parquet file.
    label : str
        The label column.
    wanted : list of str
        Columns that must be there.
    encoding : str or None
        Encoding of a CSV file.
    say : callable
        Called with a sentence before a large file is read.
    """
    if path.suffix.lower() in PARQUET_ENDINGS:
        check_columns(wanted, column_names(path, encoding), path)
        return read_parquet(path, label)
    layout = layout_of(path, encoding)
    check_columns(wanted, layout.columns, path)
    if path.stat().st_size > _LARGE_FILE:
        say(_memory_needed(layout, label))
    return _shrunk(_read_csv(layout, label))


def column_names(path: Path, encoding: str | None) -> list[str]:
    """Return the names of the columns of a CSV or Parquet file."""
    if path.suffix.lower() not in PARQUET_ENDINGS:
        return list(layout_of(path, encoding).columns)
    from pyarrow import ArrowException, parquet

    try:
        columns = list(parquet.read_schema(path).names)
    except (ArrowException, OSError) as error:
        raise ValueError(f"{path} cannot be read as Parquet: {error}") from None
    check_unique(columns, path)
    return columns


def read_parquet(path: Path, label: str | None = None) -> pd.DataFrame:
    """Return the table of a Parquet file, with its label column as text."""
    from pyarrow import parquet

    table = parquet.read_table(path)
    frame = table.to_pandas(ignore_metadata=True)
    if label is None:
        return frame
    frame[label] = pd.Series(label_strings(table[label].to_pylist()), dtype=object)
    return frame


def label_strings(values: list[Any]) -> list[str | None]:
    """Return labels of any type as texts, None where they are missing."""
    return [None if v is None or v != v or v == "" else str(v) for v in values]


def check_columns(wanted: Sequence[str], columns: Sequence[str], path: Path) -> None:
    """Raise if a table does not have a column, or one is to be used in two ways."""
    for name in wanted:
        if name not in columns:
            raise ValueError(
                f"{path} has no column {name!r}. {nearest_name(name, list(columns))}"
            )
        if wanted.count(name) > 1:
            raise ValueError(
                f"Column {name!r} of {path} is named twice. Name different columns by "
                "--label, --text, --image, --id, --use and --ignore."
            )


def _read_csv(layout: Layout, label: str, **options: Any) -> pd.DataFrame:
    missing = dict.fromkeys(layout.columns, _MISSING_VALUES)
    missing[label] = MISSING_LABELS
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", pd.errors.ParserWarning)
            return pd.read_csv(
                layout.path,
                sep=layout.separator,
                encoding=layout.encoding,
                header=0,
                names=list(layout.columns),
                index_col=False,
                dtype={label: str},
                na_values=missing,
                keep_default_na=False,
                low_memory=False,
                **options,
            )
    except UnicodeDecodeError as error:
        raise wrong_encoding(layout.path, layout.encoding, error) from None
    except (pd.errors.ParserError, pd.errors.ParserWarning) as error:
        raise ValueError(
            f"{layout.path} cannot be read as CSV with the separator "
            f"{layout.separator!r}: {str(error).strip()}"
        ) from None


def _memory_needed(layout: Layout, label: str) -> str:
    """Return a sentence about the size of a file, from its first rows."""
    probe = _read_csv(layout, label, nrows=_N_PROBE_ROWS)
    with layout.path.open("rb") as file:
        size = sum(len(file.readline()) for _ in range(len(probe) + 1))
    n_rows = layout.path.stat().st_size / max(size, 1) * len(probe)
    # Measured: with its copies and the features, a table takes six times its size.
    needed = 6 * probe.memory_usage(deep=True).sum() / len(probe) * n_rows
    return (
        f"{layout.path.name} has about {n_rows:,.0f} rows, and an audit of it needs "
        f"about {needed / 2**30:.1f} GB of memory."
    )


def _shrunk(frame: pd.DataFrame) -> pd.DataFrame:
    """Store numbers in half the memory, unless many would become equal."""
    for name in frame.select_dtypes("float64").columns:
        low, high = frame[name].min(), frame[name].max()
        if not high - low < _FEWEST_VALUES * np.spacing(np.float32(max(-low, high))):
            frame[name] = frame[name].astype("float32")
    return frame
