"""Labeled rows of a CSV or Parquet file."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from skpresto.audit._page import FeatureView, SampleView
from skpresto.audit._sources.base import (
    EMBEDDINGS_HINT,
    Source,
    fingerprint_of_file,
    labeled_rows,
)
from skpresto.audit._sources.columns import (
    Wishes,
    check_nothing_used,
    choose_columns,
    names_of_rows,
    notes_about,
)
from skpresto.audit._sources.embeddings import without_missing
from skpresto.audit._sources.frames import column_names, read_frame
from skpresto.audit._sources.matrices import list_columns, stacked, with_lists
from skpresto.audit._sources.pictures import PictureView, pictures_of
from skpresto.audit._sources.vectorize import vectorize

NO_WISHES = Wishes()


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
    pictures : list of Path, default=None
        Images of the rows, which are shown.
    """

    frame: pd.DataFrame
    text: str | None = None
    pictures: list[Path] | None = None
    _per_sample: ClassVar = (*Source._per_sample, "frame", "pictures")

    def features(self, seed: int) -> NDArray[np.float32]:
        """Return the columns as numbers to train on."""
        if self.embeddings is not None:
            return super().features(seed)
        return vectorize(self.frame, self.text, seed)

    def view(self) -> SampleView | None:
        """Return what the page shows of a row."""
        has_columns = bool(len(self.frame.columns))
        values = FeatureView(self.frame, self.text) if has_columns else None
        if self.pictures is None:
            return values
        return PictureView(self.pictures, values)


def read_table(
    path: Path,
    label: str,
    *,
    wishes: Wishes = NO_WISHES,
    as_given: bool = False,
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
    wishes : Wishes, default=NO_WISHES
        What the user said about other columns.
    as_given : bool, default=False
        Whether every spelling of a label is a class.
    encoding : str, default=None
        Encoding of a CSV file; None means UTF-8.
    say : callable, default=None
        Called with sentences that the user should read before a long wait.
    """
    frame = read_frame(path, label, [label, *wishes.named], encoding, say)
    if not len(frame):
        raise ValueError(f"{path} has a header but no rows.")
    what = f"Column {label!r} of {path}"
    way_out = "Choose another --label."
    fields = labeled_rows(frame.pop(label), what, way_out, as_given)
    labeled = with_lists(frame.iloc[fields["rows"]].reset_index(drop=True))
    fields |= {"path": path, "fingerprint": fingerprint_of_file(path)}
    fields |= {"label_name": label, "text": wishes.text}
    fields["pictures"] = pictures_of(labeled, wishes.image, path)
    lists = [name for name in list_columns(labeled) if name not in wishes.ignore]
    if lists:
        return _embedded(labeled, lists, wishes, fields)
    columns = choose_columns(labeled, fields["labels"], wishes)
    notes = notes_about(columns)
    if wishes.text is not None:
        notes.append(EMBEDDINGS_HINT.format(what="texts"))
    if not len(columns.trained.columns):
        raise ValueError(
            f"{path} has no column to learn from besides the label {label!r}. "
            f"{' '.join(notes)}".strip()
        )
    return TableSource(
        notes=notes, frame=columns.trained, names=columns.names, **fields
    )


def _embedded(
    frame: pd.DataFrame, lists: list[str], wishes: Wishes, fields: dict[str, Any]
) -> TableSource:
    """Return rows that are trained on by their embeddings alone."""
    path = fields["path"]
    check_nothing_used(wishes, path)
    embeddings = np.concatenate([stacked(frame[name], path) for name in lists], axis=1)
    others = frame.drop(columns=lists)
    names, shown = names_of_rows(others, wishes)
    column = f"column{'s' if len(lists) > 1 else ''} {', '.join(map(repr, lists))}"
    note = f"Trained on the embeddings of {column}; other columns are only shown."
    source = TableSource(
        frame=shown,
        names=names,
        embeddings=embeddings,
        notes=[note] if len(others.columns) else [],
        **fields,
    )
    return without_missing(source, path)


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
