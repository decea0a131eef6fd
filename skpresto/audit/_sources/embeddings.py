"""Embeddings: numbers that a trained network has made of images or texts."""

import re
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from skpresto.audit._sources.base import LeftOut, Source, check_classes, listed
from skpresto.audit._sources.matrices import Matrix

AnySource = TypeVar("AnySource", bound=Source)
Rows = NDArray[np.intp]


class Ids(NamedTuple):
    """Ids of the labels and of the embeddings."""

    of_labels: pd.Series
    of_embeddings: pd.Series


def with_embeddings(labeled: Source, matrix: Matrix, ids: Ids | None) -> Source:
    """Return labeled samples with their embeddings, without those that have none.

    Parameters
    ----------
    labeled : Source
        The labels, and what is shown of the samples.
    matrix : Matrix
        The embeddings.
    ids : Ids or None
        Ids of labels and embeddings. None means that rows belong together by position.
    """
    if ids is not None:
        rows = _rows_by_id(ids, labeled.path, matrix.path)
    elif len(matrix.values) == labeled.n_rows:
        rows = labeled.rows
    else:
        raise ValueError(
            f"{matrix.path} has {len(matrix.values):,} rows of embeddings, but "
            f"{labeled.path} has {labeled.n_rows:,} labels. Both need one row per "
            "sample, in the same order; or give ids to both: an array 'ids' in a .npz "
            "file or a column in a Parquet file, and --id COLUMN."
        )
    with np.errstate(over="ignore"):
        embeddings = matrix.values[rows].astype(np.float32, copy=False)
    return without_missing(replace(labeled, embeddings=embeddings), matrix.path)


def without_missing(source: AnySource, path: Path) -> AnySource:
    """Leave out samples whose embeddings in a file are not complete."""
    assert source.embeddings is not None
    is_whole = np.array(np.isfinite(source.embeddings).all(axis=1))
    if is_whole.all():
        return source
    if not is_whole.any():
        raise ValueError(
            f"{path} has NaN or infinity in every embedding. Compute them again, such "
            "as in float32 in place of float16."
        )
    names = source.row_names()
    reason = "its embedding is missing, or has NaN or infinity"
    left_out = [LeftOut(names[i], reason) for i in np.flatnonzero(~is_whole)]
    kept = source.among(is_whole)
    check_classes(kept.labels, f"{source.path}, without missing embeddings,", "")
    return replace(kept, left_out=[*source.left_out, *left_out])


def matching_ids(
    frame: pd.DataFrame, matrix: Matrix, path: Path, declared: str | None
) -> Ids | None:
    """Return the columns by which labels and embeddings belong together, if any.

    Parameters
    ----------
    frame : DataFrame
        The columns of the labels.
    matrix : Matrix
        The embeddings.
    path : Path
        Where the labels are, for error messages.
    declared : str or None
        The id column that the user named.
    """
    if matrix.ids is None:
        if declared is None:
            return None
        raise ValueError(
            f"{path} has ids, but {matrix.path} has none. Save them as an array 'ids' "
            "in a .npz file or as a column in a Parquet file, or leave out --id if "
            "both files have the same order."
        )
    if declared is not None:
        is_same = declared in matrix.ids.columns
        known = matrix.ids[declared] if is_same else _best(matrix.ids, frame[declared])
        return Ids(frame[declared], known)
    for name in frame.columns:
        for other in matrix.ids.columns:
            if _are_ids(frame[name], matrix.ids[other]):
                return Ids(frame[name], matrix.ids[other])
    if len(matrix.ids.columns) > 1:  # columns of all kinds, of which none is an id
        return None
    first = as_texts(matrix.ids.iloc[:, 0])[0]
    columns = listed(list(frame.columns))
    raise ValueError(
        f"{matrix.path} has ids, such as {first!r}, but no column of {path} has only "
        f"such ids. {columns} Pass --id COLUMN, or save the embeddings without ids, in "
        "the order of the labels."
    )


def _are_ids(labels: pd.Series, embeddings: pd.Series) -> bool:
    """Return whether a column of labels has different ids, all of them known.

    Numbers may be known by accident, so that both columns need the name of an id.
    """
    if pd.api.types.is_float_dtype(labels.dtype) and labels.isna().any():
        return False
    is_number = pd.api.types.is_numeric_dtype(embeddings.dtype)
    names = (str(labels.name).lower(), str(embeddings.name).lower())
    if is_number and not all(re.search(r"id(s|x)?$|^index$|^key$", n) for n in names):
        return False
    texts = as_texts(labels)
    return len(set(texts)) == len(texts) and set(texts) <= set(as_texts(embeddings))


def _best(candidates: pd.DataFrame, labels: pd.Series) -> pd.Series:
    """Return the column that knows most ids of the labels."""
    wanted = set(as_texts(labels))
    known = [len(wanted & set(as_texts(candidates[n]))) for n in candidates.columns]
    return candidates.iloc[:, int(np.argmax(known))]


def _rows_by_id(ids: Ids, labels_path: Path, path: Path) -> Rows:
    wanted, known = as_texts(ids.of_labels), as_texts(ids.of_embeddings)
    for texts, file in ((known, path), (wanted, labels_path)):
        if len(set(texts)) < len(texts):
            twice = pd.Series(texts)[pd.Series(texts).duplicated()].iloc[0]
            raise ValueError(
                f"{file} has the id {twice!r} more than once, so that embeddings and "
                "labels cannot be matched. Ids need to be different."
            )
    row_of = {text: row for row, text in enumerate(known)}
    missing = [text for text in wanted if text not in row_of]
    if missing:
        raise ValueError(
            f"{len(missing):,} of {len(wanted):,} ids of {labels_path} are not in "
            f"{path}, such as {missing[0]!r} (an id of {path} is {known[0]!r}). Make "
            "the missing embeddings, or remove these rows."
        )
    return np.array([row_of[text] for text in wanted], dtype=np.intp)


def as_texts(ids: pd.Series) -> list[str]:
    """Return ids as texts; whole numbers as such, whatever their type."""
    if pd.api.types.is_float_dtype(ids.dtype) and (ids.dropna() % 1 == 0).all():
        ids = ids.astype("Int64")
    return [str(value) for value in ids.tolist()]
