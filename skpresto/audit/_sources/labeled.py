"""Embeddings or probabilities in one file, and what they are about in another."""

from pathlib import Path

import pandas as pd

from skpresto.audit._sources.base import Source, fingerprint_of_file, labeled_rows
from skpresto.audit._sources.columns import (
    Wishes,
    check_nothing_used,
    names_of_rows,
)
from skpresto.audit._sources.embeddings import matching_ids, with_embeddings
from skpresto.audit._sources.frames import check_columns
from skpresto.audit._sources.images import list_image_folder
from skpresto.audit._sources.matrices import (
    ARRAY_ENDINGS,
    Matrix,
    load_arrays,
    read_matrix,
)
from skpresto.audit._sources.pictures import pictures_of
from skpresto.audit._sources.probabilities import probability_source
from skpresto.audit._sources.table import TableSource, label_values


def read_with_labels(
    path: Path,
    labels_path: Path | None,
    *,
    label: str | None = None,
    wishes: Wishes | None = None,
    as_given: bool = False,
    encoding: str | None = None,
) -> Source:
    """Read embeddings or out-of-fold probabilities, and the labels they are about.

    Parameters
    ----------
    path : Path
        Embeddings or probabilities, as of ``read_matrix``.
    labels_path : Path or None
        A CSV, Parquet or ``.npy`` file with one label per row, or a folder with one
        folder of images per class.
    label : str, default=None
        The label column, if the file has several.
    wishes : Wishes, default=None
        What the user said about the other columns.
    as_given : bool, default=False
        Whether every spelling of a label is a class.
    encoding : str, default=None
        Encoding of CSV files; None means UTF-8.
    """
    if labels_path is None:
        raise ValueError(
            f"{path} holds embeddings or probabilities, and an audit needs the labels "
            "as well. Pass --labels with a file of one label per row."
        )
    matrix = read_matrix(path, encoding)
    if labels_path.is_dir():
        images = list_image_folder(labels_path, as_given)
        names = pd.DataFrame({"id": images.row_names()})
        ids = matching_ids(names, matrix, labels_path, None)
        return with_embeddings(images, matrix, ids)
    given, frame = _read_labels(labels_path, label, encoding)
    if matrix.are_probabilities(given.dropna().astype(str).to_numpy()):
        named = (wishes or Wishes()).ids
        return probability_source(matrix, given, frame, labels_path, named)
    return _of_table(matrix, given, frame, labels_path, wishes or Wishes(), as_given)


def _of_table(
    matrix: Matrix,
    given: pd.Series,
    frame: pd.DataFrame,
    path: Path,
    wishes: Wishes,
    as_given: bool,
) -> Source:
    check_columns(wishes.named, list(frame.columns), path)
    check_nothing_used(wishes, matrix.path)
    way_out = "Choose another --labels or --label."
    fields = labeled_rows(given, f"{path}", way_out, as_given)
    labeled = frame.iloc[fields["rows"]].reset_index(drop=True)
    declared = next(iter(wishes.ids), None)
    ids = matching_ids(labeled, matrix, path, declared)
    heading = declared if ids is None else str(ids.of_labels.name)
    heads, shown = names_of_rows(labeled, wishes, heading)
    source = TableSource(
        path=path,
        fingerprint=fingerprint_of_file(path),
        frame=shown,
        label_name=None if given.name is None else str(given.name),
        text=wishes.text,
        pictures=pictures_of(labeled, wishes.image, path),
        names=heads,
        **fields,
    )
    return with_embeddings(source, matrix, ids)


def _read_labels(
    path: Path, label: str | None, encoding: str | None
) -> tuple[pd.Series, pd.DataFrame]:
    if path.suffix.lower() not in ARRAY_ENDINGS:
        return label_values(path, label, encoding)
    labels = load_arrays(path)
    if isinstance(labels, dict):
        if label not in labels:
            raise ValueError(
                f"{path} has the arrays {', '.join(map(repr, labels))}. Pass --label "
                "to say which of them holds the labels."
            )
        labels = labels[label]
    if labels.ndim != 1:
        raise ValueError(
            f"{path} needs one label per row, got an array of shape {labels.shape}."
        )
    return pd.Series(labels, name=label), pd.DataFrame(index=range(len(labels)))
