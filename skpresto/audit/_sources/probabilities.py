"""Ready out-of-fold probabilities, with the labels in a file of their own."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from skpresto.audit._page import FeatureView
from skpresto.audit._sources.base import Source, fingerprint_of_file, labeled_rows
from skpresto.audit._sources.columns import Wishes, names_of_rows
from skpresto.audit._sources.frames import check_columns
from skpresto.audit._sources.identifiers import is_moment
from skpresto.audit._sources.matrices import Matrix


@dataclass(frozen=True, kw_only=True)
class ProbabilitySource(Source):
    """Out-of-fold probabilities and labels of the same rows.

    Parameters
    ----------
    probabilities : array of shape (n_samples, n_classes)
        One row per label.
    classes : array of shape (n_classes,)
        The class of each column.
    frame : DataFrame
        Further columns of the file of the labels, to be shown.
    """

    probabilities: NDArray[Any]
    classes: NDArray[Any]
    frame: pd.DataFrame

    kind = "probabilities"

    def view(self) -> FeatureView | None:
        """Return what the page shows of a row."""
        return FeatureView(self.frame) if len(self.frame.columns) else None


def probability_source(
    matrix: Matrix,
    given: pd.Series,
    frame: pd.DataFrame,
    labels_path: Path,
    ids: Sequence[str] = (),
) -> ProbabilitySource:
    """Return out-of-fold probabilities and the labels that they are about.

    Parameters
    ----------
    matrix : Matrix
        The probabilities.
    given : Series
        One label per row.
    frame : DataFrame
        Further columns of the labels.
    labels_path : Path
        Where the labels are from.
    ids : sequence of str, default=()
        Columns that name the rows, if the user said so.
    """
    if len(given) != len(matrix.values):
        raise ValueError(
            f"{matrix.path} has {len(matrix.values):,} rows of probabilities, but "
            f"{labels_path} has {len(given):,} labels. Both need one row per sample."
        )
    way_out = "Choose another --labels or --label."
    fields = labeled_rows(given, f"{labels_path}", way_out)
    rows, n_columns = fields["rows"], matrix.values.shape[1]
    check_columns(ids, list(frame.columns), labels_path)
    labeled = frame.iloc[rows].reset_index(drop=True)
    names, shown = names_of_rows(labeled, Wishes(ids=ids))
    if not ids and names is not None and is_moment(names):
        names, shown = None, labeled
    return ProbabilitySource(
        path=labels_path,
        fingerprint=fingerprint_of_file(labels_path),
        probabilities=matrix.values[rows],
        classes=_class_names(matrix.classes, fields["labels"], n_columns, matrix.path),
        frame=shown,
        names=names,
        label_name=str(given.name) if given.name is not None else None,
        **fields,
    )


def _class_names(
    classes: Any, labels: NDArray[Any], n_columns: int, path: Path
) -> NDArray[Any]:
    """Return the class of each column, as given or as the labels suggest."""
    found = np.unique(labels)
    if classes is not None:
        names = np.asarray(classes).astype(str)
    elif len(found) == n_columns:
        names = _numeric_order(found)
    else:
        names = np.arange(n_columns).astype(str)
    unknown = sorted(set(found.tolist()) - set(names.tolist()))
    if len(names) != n_columns or unknown:
        raise ValueError(
            f"{path} has {n_columns} columns, but the labels have {len(found)} classes"
            f"{f', among them {unknown[0]!r}' if unknown else ''}. Name the columns: "
            "save a .npz file with the probabilities and an array 'classes', or a CSV "
            "file with the classes as header."
        )
    return names


def _numeric_order(names: NDArray[Any]) -> NDArray[Any]:
    """Return names sorted as numbers if they are numbers: 2 before 10."""
    try:
        return names[np.argsort(names.astype(np.float64), kind="stable")]
    except ValueError:
        return names
