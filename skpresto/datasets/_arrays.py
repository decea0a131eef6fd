"""Validation and normalization of arrays, and the Bunch that loaders return."""

from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Bunch

from skpresto.datasets._source import Source

#: Rows processed at once, so that no second copy of the data is needed.
_N_ROWS_AT_ONCE = 1024


def is_count(value: Any) -> bool:
    """Return whether an argument is a positive integer, and not a bool."""
    return (
        isinstance(value, Integral) and not isinstance(value, bool) and int(value) > 0
    )


def check_count(source: Source, what: str, n: int, n_published: int) -> None:
    """Raise if the number of rows is not the published one."""
    if n != n_published:
        raise ValueError(
            f"{source.loader} needs all {n_published} {what} of {source.title}, but "
            f"got {n}. Download the files again from {source.home}, or pass "
            "check_counts=False to use a part of the data set."
        )


def check_balance(source: Source, what: str, labels: NDArray, n_classes: int) -> None:
    """Raise if the classes are not equally frequent."""
    counts = np.bincount(labels, minlength=n_classes)
    if counts.min() != counts.max():
        raise ValueError(
            f"{source.loader} needs the same number of {what} of each class, as in "
            f"{source.title}, but got {counts.min()} to {counts.max()}. Download the "
            f"files again from {source.home}, or pass check_counts=False to use a part "
            "of the data set."
        )


def as_labels(source: Source, labels: Any, n_classes: int, path: Path) -> NDArray:
    """Return labels as int64 class numbers, and raise if they are not valid."""
    try:
        array = np.asarray(labels)
    except Exception as error:
        # Such as lists of different lengths, or sparse tensors.
        raise source.damaged(path, f"labels are not an array ({error})") from None
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise source.damaged(
            path,
            "labels must be a 1-D array of integers, got an array of dtype "
            f"{array.dtype} and shape {array.shape}",
        )
    if len(array) and not 0 <= array.min() <= array.max() < n_classes:
        raise source.damaged(
            path,
            f"labels must be between 0 and {n_classes - 1}, got {array.min()} to "
            f"{array.max()}",
        )
    return array.astype(np.int64)


def as_bunch(normalize: bool, **entries: Any) -> Bunch:
    """Return the entries as a Bunch; ``normalize`` scales those named ``X_...``."""
    if normalize:
        _check_numbers(entries)
        mean, scale = channel_statistics(entries["X_train"])
        for name in [name for name in entries if name.startswith("X_")]:
            X = entries[name].astype(np.float32)
            X -= mean
            X /= scale
            entries[name] = X
    return Bunch(**entries)


def _check_numbers(entries: dict[str, Any]) -> None:
    for name in [name for name in entries if name.startswith("X_")]:
        X = entries[name]
        if X.dtype.kind not in "biuf" or (name == "X_train" and not X.size):
            raise ValueError(
                f"normalize=True needs numbers in {name}, but got an array of dtype "
                f"{X.dtype} and shape {X.shape}. Pass normalize=False."
            )


def channel_statistics(
    X: NDArray,
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return mean and standard deviation of each channel or column, for broadcasting.

    The standard deviation of a constant channel is replaced by 1.

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
