"""Labeled rows of a CSV or Parquet file."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from skpresto.audit._page import FeatureView
from skpresto.audit._sources.base import Source, fingerprint_of_file, labeled_rows
from skpresto.audit._sources.frames import column_names, read_frame
from skpresto.audit._sources.vectorize import vectorize


@dataclass(frozen=True, kw_only=True)
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

    frame: pd.DataFrame
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
    frame = read_frame(path, label, wanted, encoding, say)
    if not len(frame):
        raise ValueError(f"{path} has a header but no rows.")
    what = f"Column {label!r} of {path}"
    fields = labeled_rows(frame.pop(label), what, "Choose another --label.")
    notes, frame = _usable_columns(frame.iloc[fields["rows"]], ignore, text)
    if not len(frame.columns):
        raise ValueError(
            f"{path} has no column to learn from besides the label {label!r}."
        )
    return TableSource(
        path=path,
        fingerprint=fingerprint_of_file(path),
        notes=notes,
        frame=frame.reset_index(drop=True),
        label_name=label,
        text=text,
        **fields,
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
        columns = column_names(path, encoding)
        if len(columns) > 1:
            shown = ", ".join(repr(name) for name in columns[:10])
            raise ValueError(
                f"{path} has {len(columns)} columns ({shown}). Pass --label to say "
                "which of them holds the labels."
            )
        column = columns[0]
    frame = read_frame(path, column, [column], encoding, lambda sentence: None)
    return frame.pop(column), frame


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
