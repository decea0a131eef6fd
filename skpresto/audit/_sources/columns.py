"""Which columns of a table are trained on, and which name its rows."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from skpresto.audit._sources.identifiers import identifier_kind, is_moment, plain
from skpresto.audit._sources.leaks import LeakCheck

#: Columns of one kind that a note names.
_MOST_NAMED = 5
_WAY_OUT = "Pass --use COLUMN to train on it."


class Unused(NamedTuple):
    """A column that is not trained on, the reason, and whether it names the rows."""

    name: str
    reason: str
    is_id: bool = False


@dataclass(frozen=True)
class Wishes:
    """What the user said about the columns of a table.

    Parameters
    ----------
    text : str, default=None
        A column of texts.
    image : str, default=None
        A column of paths of images, which are shown.
    ids : sequence of str, default=()
        Columns that name the rows; the first heads the cards of the page.
    use : sequence of str, default=()
        Columns that are trained on whatever they look like.
    ignore : sequence of str, default=()
        Columns that are not used.
    """

    text: str | None = None
    image: str | None = None
    ids: Sequence[str] = ()
    use: Sequence[str] = ()
    ignore: Sequence[str] = ()

    @property
    def named(self) -> list[str]:
        """All columns that were named."""
        single = [name for name in (self.text, self.image) if name is not None]
        return [*self.ignore, *self.ids, *self.use, *single]


class Columns(NamedTuple):
    """What becomes of the columns of a table.

    Parameters
    ----------
    trained : DataFrame
        Columns that are trained on.
    unused : list of Unused
        Columns that are not, but for those that the user ignores.
    names : Series of str or None
        What the rows are called, if a column says so, and its name.
    moments : list of str
        Columns that are trained on and have another moment in nearly every row.
    """

    trained: pd.DataFrame
    unused: list[Unused]
    names: pd.Series | None
    moments: list[str]


def choose_columns(
    frame: pd.DataFrame, labels: NDArray[np.str_], wishes: Wishes
) -> Columns:
    """Return the columns to train on, the others with reasons, and names of the rows.

    Parameters
    ----------
    frame : DataFrame
        The columns without the label.
    labels : array of shape (n_rows,)
        Given labels.
    wishes : Wishes
        What the user said about columns.
    """
    leaks = LeakCheck(labels)
    wanted = {*wishes.use, wishes.text}
    ignored = {*wishes.ignore, wishes.image}
    unused = []
    for name in frame.columns:
        if name in wishes.ids:
            unused.append(Unused(name, "it names the rows", is_id=True))
        elif name not in wanted and name not in ignored:
            found = _reason(frame[name], leaks)
            unused += [] if found is None else [Unused(name, *found)]
    left_out = [*(ignored - {None}), *(column.name for column in unused)]
    ids = [column.name for column in unused if column.is_id]
    heading = _heading(frame, ids, wishes)
    names = None if heading is None else id_texts(frame[heading])
    trained = frame.drop(columns=left_out)
    moments = [n for n in trained.columns if n not in wanted and is_moment(trained[n])]
    return Columns(trained, unused, names, moments)


def names_of_rows(
    frame: pd.DataFrame, wishes: Wishes, ids: str | None = None
) -> tuple[pd.Series | None, pd.DataFrame]:
    """Return what rows that are not trained on are called, and the other columns.

    Parameters
    ----------
    frame : DataFrame
        The columns without the label.
    wishes : Wishes
        What the user said about columns.
    ids : str, default=None
        The column that identifies the rows, if it is known.
    """
    named = {*wishes.named, ids}
    others = [name for name in frame.columns if name not in named]
    found = [name for name in others if _names_rows(frame[name])]
    heading = ids or _heading(frame, found, wishes)
    nested = [n for n in others if frame[n].notna().any() and _is_nested(frame[n])]
    hidden = {*wishes.ignore, *wishes.ids, heading, *nested} - {None, wishes.image}
    names = None if heading is None else id_texts(frame[heading])
    return names, frame.drop(columns=list(hidden))


def check_nothing_used(wishes: Wishes, path: Path) -> None:
    """Raise if a column is to be trained on beside embeddings."""
    if wishes.use:
        raise ValueError(
            f"{path} has embeddings, which are trained on alone, so that --use has no "
            "meaning. Leave it out, or leave out the embeddings."
        )


def notes_about(columns: Columns) -> list[str]:
    """Return a sentence for each reason why columns are not used."""
    notes = [
        f"Column {name!r} has another time in nearly every row and is trained on. If "
        f"it only says when a row was made, pass --id {shlex.quote(name)}."
        for name in columns.moments
    ]
    by_reason = sorted(columns.unused, key=lambda column: column.reason)
    for reason, group in groupby(by_reason, key=lambda column: column.reason):
        names = [repr(column.name) for column in group]
        shown = ", ".join(names[:_MOST_NAMED])
        more = len(names) - _MOST_NAMED
        end = f" and {more:,} more" if more > 0 else ""
        plural = "s" if len(names) > 1 else ""
        verb = "are" if plural else "is"
        notes.append(f"Column{plural} {shown}{end} {verb} not trained on: {reason}.")
    return notes


def _reason(column: pd.Series, leaks: LeakCheck) -> tuple[str, bool] | None:
    """Return why a column is not trained on and whether it names rows, or None."""
    if column.isna().all():
        return "no values", False
    column = plain(column)
    if _is_nested(column):
        return "nested or binary values", False
    if column.nunique(dropna=False) == 1:
        return "one value in all rows", False
    kind = identifier_kind(column)
    if kind is not None:
        return f"identifier ({kind}). {_WAY_OUT[:-1]}", True
    leak = leaks.leak(column)
    if leak is not None:
        return f"it gives the labels away ({leak}). {_WAY_OUT[:-1]}", False
    return None


def _is_nested(column: pd.Series) -> bool:
    first = column.dropna().iloc[0]
    return isinstance(first, list | tuple | dict | set | bytes | np.ndarray)


def _heading(frame: pd.DataFrame, found: Sequence[str], wishes: Wishes) -> str | None:
    """Return the column that names the rows best: declared ones before texts."""
    if wishes.ids:
        return wishes.ids[0]
    found = [*found, *(name for name in wishes.ignore if _names_rows(frame[name]))]
    found = [name for name in found if not _is_row_number(frame[name])]
    texts = [name for name in found if not _is_number_or_date(frame[name])]
    return next(iter([*texts, *found]), wishes.image)


def _names_rows(column: pd.Series) -> bool:
    is_empty = column.isna().all() or _is_nested(column)
    return not is_empty and identifier_kind(column) is not None


def _is_row_number(column: pd.Series) -> bool:
    values: Any = column.to_numpy()
    return bool(np.array_equal(values, np.arange(len(values))))


def _is_number_or_date(column: pd.Series) -> bool:
    is_date = pd.api.types.is_datetime64_any_dtype(column.dtype)
    return bool(is_date or pd.api.types.is_numeric_dtype(column.dtype))


def id_texts(column: pd.Series) -> pd.Series:
    """Return what rows are called as texts, whole numbers as such; empty if missing."""
    values = column.astype(object).where(column.notna(), "")
    texts = [str(int(v)) if _is_whole(v) else str(v) for v in values]
    return pd.Series(texts, name=column.name, dtype=object)


def _is_whole(value: Any) -> bool:
    return isinstance(value, float) and value.is_integer()
