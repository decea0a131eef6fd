"""Checks that arrays are what was published, and the Bunch they come in."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Bunch

from skpresto.datasets._source import Source

#: Rows that are measured at once, so that no second copy of the data is needed.
_N_ROWS_AT_ONCE = 1024


def check_count(source: Source, what: str, n: int, n_published: int) -> None:
    """Raise if the number of rows is not the published one."""
    if n != n_published:
        raise ValueError(
            f"{source.loader} needs the {n_published} {what} that {source.title} is "
            f"published with, got {n}. Complete the files from {source.home}, or pass "
            "check_counts=False to use a part."
        )


def check_balance(source: Source, what: str, labels: NDArray, n_classes: int) -> None:
    """Raise if not every class is equally often there."""
    counts = np.bincount(labels, minlength=n_classes)
    if counts.min() != counts.max():
        raise ValueError(
            f"{source.loader} needs as many {what} of each class as of any other, as "
            f"in {source.title}, got from {counts.min()} to {counts.max()}. Get the "
            f"files again from {source.home}, or pass check_counts=False to use a part."
        )


def as_labels(source: Source, labels: Any, n_classes: int, path: Path) -> NDArray:
    """Return labels as int64 class numbers, or say what is wrong with the file."""
    array = np.asarray(labels)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise source.damaged(
            path,
            "labels must be whole numbers in one dimension, got an array of "
            f"{array.dtype} of shape {array.shape}",
        )
    if len(array) and not 0 <= array.min() <= array.max() < n_classes:
        raise source.damaged(
            path,
            f"labels must lie between 0 and {n_classes - 1}, got {array.min()} to "
            f"{array.max()}",
        )
    return array.astype(np.int64)


def as_bunch(normalize: bool, **entries: Any) -> Bunch:
    """Return the entries as a Bunch, those named ``X_...`` normalized if asked for."""
    if normalize:
        mean, scale = channel_statistics(entries["X_train"])
        for name in [name for name in entries if name.startswith("X_")]:
            X = entries[name].astype(np.float32)
            X -= mean
            X /= scale
            entries[name] = X
    return Bunch(**entries)


def channel_statistics(
    X: NDArray,
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return mean and standard deviation of each channel (or column), to broadcast.

    A channel that never changes has the scale 1.

    Examples
    --------
    >>> import numpy as np
    >>> mean, scale = channel_statistics(np.array([[1.0, 5.0], [3.0, 5.0]]))
    >>> mean.tolist(), scale.tolist()
    ([[2.0, 5.0]], [[1.0, 1.0]])
    """
    axes = tuple(axis for axis in range(X.ndim) if axis != 1)
    blocks = [X[i : i + _N_ROWS_AT_ONCE] for i in range(0, len(X), _N_ROWS_AT_ONCE)]
    n_values = X.size / X.shape[1]

    totals = [b.sum(axis=axes, dtype=np.float64, keepdims=True) for b in blocks]
    mean = np.sum(totals, axis=0) / n_values
    squares = [np.square(b - mean).sum(axis=axes, keepdims=True) for b in blocks]
    scale = np.sqrt(np.sum(squares, axis=0) / n_values)
    scale[scale == 0] = 1.0
    return mean.astype(np.float32), scale.astype(np.float32)
