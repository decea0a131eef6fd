"""One row of numbers per sample, from ``.npy``, ``.npz``, CSV and Parquet files."""

import re
import zipfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from skpresto.audit._sources.delimited import layout_of
from skpresto.audit._sources.frames import PARQUET_ENDINGS, read_parquet

ARRAY_ENDINGS = (".npy", ".npz")
#: Names that arrays of a ``.npz`` file may have; others are taken for the numbers.
EMBEDDING_NAMES = ("embeddings", "embedding", "features")
PROBABILITY_NAMES = ("pred_proba", "probabilities", "probs")
_ID_NAMES = ("ids", "id", "names", "files", "paths")
#: Numbers of a list from which on it may be an embedding, if they are whole numbers.
_FEWEST_DIMENSIONS = 8
#: How much the probabilities of a row may miss 1, as those in half precision do.
_SUM_TOLERANCE = 1e-2


@dataclass(frozen=True)
class Matrix:
    """Numbers of samples.

    Parameters
    ----------
    path : Path
        The file they come from.
    values : ndarray of shape (n_samples, n_columns)
        The numbers.
    name : str, default=None
        What the file calls them.
    classes : ndarray of shape (n_columns,), default=None
        The class of each column, of probabilities.
    ids : DataFrame of n_samples rows, default=None
        Columns that may be ids of the samples.
    """

    path: Path
    values: NDArray[Any]
    name: str | None = None
    classes: NDArray[Any] | None = None
    ids: pd.DataFrame | None = None

    def are_probabilities(self, labels: NDArray[Any]) -> bool:
        """Return whether the numbers are class probabilities, or meant to be."""
        if self.name is not None and self.name in (
            *EMBEDDING_NAMES,
            *PROBABILITY_NAMES,
        ):
            return self.name in PROBABILITY_NAMES
        sums = self.values.sum(axis=1, dtype=np.float64)
        if (self.values >= 0).all() and (np.abs(sums - 1) <= _SUM_TOLERANCE).all():
            return True
        classes = np.unique(labels).astype(str)
        if self.values.shape[1] == len(classes):
            raise ValueError(
                f"{self.path} has a column for each of the {len(classes)} classes, but "
                "probabilities need rows that sum to 1. Convert scores first, such as "
                "logits by scipy.special.softmax(scores, axis=1). If these are "
                "embeddings, save them as .npz with an array named 'embeddings'."
            )
        return False


def read_matrix(path: Path, encoding: str | None = None) -> Matrix:
    """Read one row of numbers per sample.

    Parameters
    ----------
    path : Path
        A ``.npy`` file, a ``.npz`` file with one array of two dimensions and
        optionally ``classes`` or ``ids``, a Parquet file with one column of lists, or a
        CSV file of numbers.
    encoding : str, default=None
        Encoding of a CSV file; None means UTF-8.
    """
    ending = path.suffix.lower()
    if ending in PARQUET_ENDINGS:
        return _of_parquet(path)
    if ending not in ARRAY_ENDINGS:
        return _of_csv(path, encoding)
    loaded = load_arrays(path)
    if isinstance(loaded, np.ndarray):
        return _checked(Matrix(path, loaded))
    return _of_archive(path, loaded)


def load_arrays(path: Path) -> Any:
    """Return the array of a ``.npy`` file, or those of a ``.npz`` file by name."""
    try:
        loaded = np.load(path, allow_pickle=False)
        return loaded if isinstance(loaded, np.ndarray) else dict(loaded)
    except (ValueError, EOFError, zipfile.BadZipFile) as error:
        raise ValueError(f"{path} cannot be read as numpy file: {error}") from None


def list_columns(frame: pd.DataFrame) -> list[str]:
    """Return the columns whose values are lists of numbers."""
    return [name for name in frame.columns if _holds_lists(frame[name])]


def stacked(column: pd.Series, path: Path) -> NDArray[np.float32]:
    """Return lists of numbers as rows, of NaN where there is no list.

    Raises ``ValueError`` if they have different lengths.
    """
    is_missing = column.isna().to_numpy()
    known = [np.asarray(values, np.float32) for values in column[~is_missing]]
    lengths, counts = np.unique([v.size for v in known], return_counts=True)
    if len(lengths) > 1:
        usual = lengths[counts.argmax()]
        row = int(np.flatnonzero(~is_missing)[[v.size != usual for v in known]][0])
        raise ValueError(
            f"Column {column.name!r} of {path} has lists of different lengths: row "
            f"{row} has {len(column[row])} numbers, most have {usual}. An audit needs "
            "embeddings of one length; leave others out by --ignore."
        )
    values = np.full((len(column), lengths[0]), np.nan, dtype=np.float32)
    values[~is_missing] = np.stack(known)
    return values


def with_lists(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a table in which texts such as "[0.5, 1.5, ...]" are lists of numbers."""
    parsed = {name: _parsed(frame[name]) for name in frame.columns}
    found = {name: lists for name, lists in parsed.items() if lists is not None}
    return frame.assign(**found)


def _parsed(column: pd.Series) -> pd.Series | None:
    """Return texts of equally many numbers as lists; None if they are others."""
    is_list = re.compile(r"\s*\[[-+.,\deE\s]+\]\s*").fullmatch
    texts = column.dropna()
    if not (len(texts) and isinstance(texts.iloc[0], str) and is_list(texts.iloc[0])):
        return None
    try:
        lists = [
            np.array(text.strip(" []\n").replace(",", " ").split(), dtype=np.float32)
            for text in texts
        ]
    except (ValueError, AttributeError):
        return None
    if len({len(values) for values in lists}) > 1 or len(lists[0]) < _FEWEST_DIMENSIONS:
        return None
    return pd.Series(lists, index=texts.index, dtype=object).reindex(column.index)


def _holds_lists(column: pd.Series) -> bool:
    """Return whether values are lists of numbers; of whole ones, many and as many."""
    known = column.dropna()
    if not (len(known) and isinstance(known.iloc[0], list | tuple | np.ndarray)):
        return False
    values = np.asarray(known.iloc[0])
    if values.ndim != 1 or not values.size or values.dtype.kind not in "fiu":
        return False
    are_many = values.size >= _FEWEST_DIMENSIONS and known.map(len).nunique() == 1
    return values.dtype.kind == "f" or bool(are_many)


def _of_parquet(path: Path) -> Matrix:
    frame = read_parquet(path)
    names = list_columns(frame)
    if len(names) == 1:
        others = frame.drop(columns=names)
        ids = others if len(others.columns) else None
        values = stacked(frame[names[0]], path)
        return _checked(Matrix(path, values, EMBEDDING_NAMES[0], ids=ids))
    if names or not all(pd.api.types.is_numeric_dtype(t) for t in frame.dtypes):
        raise ValueError(
            f"{path} needs one column of lists of numbers, or columns of numbers "
            f"alone, but has {len(names)} columns of lists among {len(frame.columns)}."
        )
    return _checked(_of_frame(path, frame))


def _of_csv(path: Path, encoding: str | None) -> Matrix:
    layout = layout_of(path, encoding)
    frame = pd.read_csv(path, sep=layout.separator, encoding=layout.encoding)
    if not all(pd.api.types.is_numeric_dtype(t) for t in frame.dtypes):
        raise ValueError(
            f"{path} needs one column of numbers per class, or per dimension of "
            "embeddings."
        )
    return _of_frame(path, frame)


def _of_frame(path: Path, frame: pd.DataFrame) -> Matrix:
    names = np.array([str(name) for name in frame.columns])
    return Matrix(path, frame.to_numpy(dtype=np.float64), classes=names)


def _of_archive(path: Path, arrays: dict[str, NDArray[Any]]) -> Matrix:
    known = [n for n in (*EMBEDDING_NAMES, *PROBABILITY_NAMES) if n in arrays]
    names = known or [n for n, array in arrays.items() if array.ndim == 2]
    if len(names) != 1:
        found = ", ".join(f"{n!r} of shape {a.shape}" for n, a in arrays.items())
        raise ValueError(
            f"{path} needs one array of shape (n_samples, n_columns) with embeddings "
            f"or probabilities, but has {len(names)}: {found or 'it is empty'}."
        )
    ids = next((arrays[name] for name in _ID_NAMES if name in arrays), None)
    matrix = Matrix(path, arrays[names[0]], names[0], arrays.get("classes"))
    if matrix.classes is not None and names[0] not in EMBEDDING_NAMES:
        matrix = replace(matrix, name=PROBABILITY_NAMES[0])
    if ids is None:
        return _checked(matrix)
    if ids.ndim != 1 or len(ids) != len(matrix.values):
        raise ValueError(
            f"{path} needs one id per row, but has ids of shape {ids.shape} for "
            f"{names[0]!r} of shape {matrix.values.shape}."
        )
    return _checked(replace(matrix, ids=pd.DataFrame({"id": ids})))


def _checked(matrix: Matrix) -> Matrix:
    """Return numbers of samples after checks of their shape and type."""
    values, path = matrix.values, matrix.path
    if values.ndim != 2 or 0 in values.shape:
        raise ValueError(
            f"{path} needs one row of numbers per sample, of shape (n_samples, "
            f"n_columns), got an array of shape {values.shape}."
        )
    if values.dtype.kind not in "fiu":
        raise ValueError(f"{path} needs numbers, got an array of {values.dtype}.")
    return matrix
