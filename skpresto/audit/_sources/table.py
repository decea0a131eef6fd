"""Labeled rows of a CSV or Parquet file."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from skpresto.audit._page import FeatureView
from skpresto.audit._sources.base import (
    LeftOut,
    Source,
    check_classes,
    fingerprint_of_file,
    nearest_name,
)
from skpresto.audit._sources.delimited import (
    Layout,
    check_unique,
    layout_of,
    wrong_encoding,
)
from skpresto.audit._sources.vectorize import vectorize

PARQUET_ENDINGS = (".parquet", ".pq")

#: What stands for a missing label. Words such as NA or None may be classes.
_MISSING_LABELS = ["", "nan", "NaN", "NAN", "<NA>", "#N/A"]
_MISSING_VALUES = [
    *_MISSING_LABELS,
    *("NA", "N/A", "n/a", "NULL", "null", "None", "-nan", "-NaN", "#NA", "1.#IND"),
]
#: Files that take long to read: their need of memory is stated beforehand.
_LARGE_FILE = 200 * 2**20
_N_PROBE_ROWS = 2000


@dataclass(frozen=True)
class TableSource(Source):
    """Rows of a table with mixed columns.

    Parameters
    ----------
    frame : DataFrame
        The columns that are used, without the label, of the labeled rows.
    label_name : str
        The label column.
    text : str, default=None
        A column of texts, which is encoded in more detail and shown in full.
    """

    frame: pd.DataFrame = field(default_factory=pd.DataFrame)
    label_name: str | None = None
    text: str | None = None

    def features(self, seed: int) -> NDArray[np.float32]:
        """Return the columns as numbers to train on."""
        return vectorize(self.frame, self.text, seed)

    def view(self) -> FeatureView:
        """Return what the page shows of a row."""
        return FeatureView(self.frame, self.text)


def read_table(
    path: Path,
    label: str,
    *,
    text: str | None = None,
    ignore: tuple[str, ...] = (),
    encoding: str | None = None,
    say: Callable[[str], None] = lambda sentence: None,
) -> TableSource:
    """Read the labeled rows of a CSV or Parquet file.

    Parameters
    ----------
    path : Path
        The file.
    label : str
        The label column.
    text : str, default=None
        A column of texts.
    ignore : tuple of str, default=()
        Columns that are not used.
    encoding : str, default=None
        Encoding of a CSV file; None means UTF-8.
    say : callable, default=None
        Called with sentences that the user should read before a long wait.
    """
    wanted = [label, *ignore] + ([text] if text else [])
    frame = _read_frame(path, label, wanted, encoding, say)
    if not len(frame):
        raise ValueError(f"{path} has a header but no rows.")
    labels = frame.pop(label)
    is_missing = labels.isna().to_numpy()
    labels = labels[~is_missing].astype(str).to_numpy(dtype=object).astype(str)
    check_classes(labels, f"Column {label!r} of {path}", "Choose another --label.")
    notes, frame = _usable_columns(frame.loc[~is_missing], ignore, text)
    if not len(frame.columns):
        raise ValueError(
            f"{path} has no column to learn from besides the label {label!r}."
        )
    missing_rows = np.flatnonzero(is_missing)
    return TableSource(
        path=path,
        fingerprint=fingerprint_of_file(path),
        labels=labels,
        rows=np.flatnonzero(~is_missing),
        n_rows=len(is_missing),
        left_out=[LeftOut(f"row {row}", "no label") for row in missing_rows],
        notes=notes,
        frame=frame.reset_index(drop=True),
        label_name=label,
        text=text,
    )


def label_values(path: Path, column: str | None, encoding: str | None) -> Any:
    """Return the label column and the others of a table that only gives labels.

    Parameters
    ----------
    path : Path
        A CSV or Parquet file.
    column : str or None
        The label column; may be None if there is only one.
    encoding : str or None
        Encoding of a CSV file.
    """
    if column is None:
        columns = _columns(path, encoding)
        if len(columns) > 1:
            shown = ", ".join(repr(name) for name in columns[:10])
            raise ValueError(
                f"{path} has {len(columns)} columns ({shown}). Pass --label to say "
                "which of them holds the labels."
            )
        column = columns[0]
    frame = _read_frame(path, column, [column], encoding, lambda sentence: None)
    return frame.pop(column), frame


def _read_frame(
    path: Path,
    label: str,
    wanted: list[str],
    encoding: str | None,
    say: Callable[[str], None],
) -> pd.DataFrame:
    if path.suffix.lower() in PARQUET_ENDINGS:
        _check_present(wanted, _columns(path, encoding), path)
        return _read_parquet(path, label)
    layout = layout_of(path, encoding)
    _check_present(wanted, layout.columns, path)
    if path.stat().st_size > _LARGE_FILE:
        say(_memory_needed(layout, label))
    return _shrunk(_read_csv(layout, label))


def _columns(path: Path, encoding: str | None) -> list[str]:
    if path.suffix.lower() not in PARQUET_ENDINGS:
        return list(layout_of(path, encoding).columns)
    from pyarrow import ArrowException, parquet

    try:
        columns = list(parquet.read_schema(path).names)
    except (ArrowException, OSError) as error:
        raise ValueError(f"{path} cannot be read as Parquet: {error}") from None
    check_unique(columns, path)
    return columns


def _read_parquet(path: Path, label: str) -> pd.DataFrame:
    from pyarrow import parquet

    table = parquet.read_table(path)
    frame = table.to_pandas(ignore_metadata=True)
    frame[label] = pd.Series(label_strings(table[label].to_pylist()), dtype="str")
    return frame


def label_strings(values: list[Any]) -> list[str | None]:
    """Return labels of any type as texts, None where they are missing."""
    return [None if v is None or v != v or v == "" else str(v) for v in values]


def _check_present(wanted: list[str], columns: Any, path: Path) -> None:
    for name in wanted:
        if name not in columns:
            raise ValueError(
                f"{path} has no column {name!r}. {nearest_name(name, list(columns))}"
            )


def _read_csv(layout: Layout, label: str, **options: Any) -> pd.DataFrame:
    missing = dict.fromkeys(layout.columns, _MISSING_VALUES)
    missing[label] = _MISSING_LABELS
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
    """Store numbers in half the memory."""
    for name in frame.select_dtypes("float64").columns:
        frame[name] = frame[name].astype("float32")
    return frame


def _usable_columns(
    frame: pd.DataFrame, ignore: tuple[str, ...], text: str | None
) -> tuple[list[str], pd.DataFrame]:
    """Leave out ignored and empty columns, and those that only number the rows."""
    notes, dropped = [], list(ignore)
    for name in frame.columns.difference(dropped, sort=False):
        column = frame[name]
        if column.isna().all() or (name != text and _is_row_number(column)):
            reason = "empty" if column.isna().all() else "a row number"
            notes.append(f"Column {name!r} is not used: it is {reason}.")
            dropped.append(name)
    return notes, frame.drop(columns=dropped)


def _is_row_number(column: pd.Series) -> bool:
    if len(column) < 3 or not pd.api.types.is_integer_dtype(column.dtype):
        return False
    return bool((column.diff().iloc[1:] == 1).all())
