"""Ready out-of-fold probabilities, with the labels in a file of their own."""

import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from skpresto.audit._page import FeatureView
from skpresto.audit._sources.base import Source, fingerprint_of_file, labeled_rows
from skpresto.audit._sources.delimited import layout_of
from skpresto.audit._sources.table import label_values

PROBABILITY_ENDINGS = (".npy", ".npz")


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


def read_probabilities(
    path: Path,
    labels_path: Path | None,
    label: str | None = None,
    encoding: str | None = None,
) -> ProbabilitySource:
    """Read out-of-fold probabilities and the labels that they are about.

    Parameters
    ----------
    path : Path
        A ``.npy`` file, a ``.npz`` file with an array of two dimensions and optionally
        ``classes``, or a CSV file with the classes as header.
    labels_path : Path or None
        A CSV, Parquet or ``.npy`` file with one label per row.
    label : str, default=None
        The label column, if the file has several.
    encoding : str, default=None
        Encoding of CSV files; None means UTF-8.
    """
    if labels_path is None:
        raise ValueError(
            f"{path} holds probabilities, and an audit needs the labels as well. Pass "
            "--labels with a file of one label per row."
        )
    probabilities, classes = _read_probabilities(path, encoding)
    given, frame = _read_labels(labels_path, label, encoding)
    if len(given) != len(probabilities):
        raise ValueError(
            f"{path} has {len(probabilities):,} rows of probabilities, but "
            f"{labels_path} has {len(given):,} labels. Both need one row per sample."
        )
    way_out = "Choose another --labels or --label."
    fields = labeled_rows(given, f"{labels_path}", way_out)
    rows, n_columns = fields["rows"], probabilities.shape[1]
    return ProbabilitySource(
        path=labels_path,
        fingerprint=fingerprint_of_file(labels_path),
        probabilities=probabilities[rows],
        classes=_class_names(classes, fields["labels"], n_columns, path),
        frame=frame.iloc[rows].reset_index(drop=True),
        label_name=str(given.name) if given.name is not None else None,
        **fields,
    )


def _read_probabilities(path: Path, encoding: str | None) -> tuple[Any, Any]:
    if path.suffix.lower() not in PROBABILITY_ENDINGS:
        layout = layout_of(path, encoding)
        frame = pd.read_csv(path, sep=layout.separator, encoding=layout.encoding)
        if not all(pd.api.types.is_numeric_dtype(t) for t in frame.dtypes):
            raise ValueError(f"{path} needs one column of numbers per class.")
        return frame.to_numpy(dtype=np.float64), np.array(layout.columns)
    loaded = _load(path)
    arrays = {"": loaded} if isinstance(loaded, np.ndarray) else loaded
    tables = [name for name, array in arrays.items() if array.ndim == 2]
    if len(tables) != 1:
        raise ValueError(
            f"{path} needs one array of shape (n_samples, n_classes), but has "
            f"{len(tables)} arrays of two dimensions."
        )
    table = arrays[tables[0]]
    if table.dtype.kind not in "fiu":
        raise ValueError(f"{path} needs numbers, got an array of {table.dtype}.")
    return table, arrays.get("classes")


def _load(path: Path) -> Any:
    try:
        loaded = np.load(path, allow_pickle=False)
        return loaded if isinstance(loaded, np.ndarray) else dict(loaded)
    except (ValueError, EOFError, zipfile.BadZipFile) as error:
        raise ValueError(f"{path} cannot be read as numpy file: {error}") from None


def _read_labels(
    path: Path, label: str | None, encoding: str | None
) -> tuple[pd.Series, pd.DataFrame]:
    if path.suffix.lower() != ".npy":
        return label_values(path, label, encoding)
    labels = _load(path)
    if labels.ndim != 1:
        raise ValueError(
            f"{path} needs one label per row, got an array of shape {labels.shape}."
        )
    return pd.Series(labels), pd.DataFrame(index=range(len(labels)))


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
