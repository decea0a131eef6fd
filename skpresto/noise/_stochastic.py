"""Validation of transition matrices."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

_ROUNDING = 1e-6
"""How far the sum of a row may be from 1, to allow for matrices in float32."""


def check_transition_matrix(matrix: Any, owner: str) -> NDArray[np.float64]:
    """Return ``matrix`` as float64, and raise if it is not row-stochastic.

    Rows whose sum differs from 1 only by rounding are rescaled.
    """
    try:
        checked = np.array(matrix, dtype=np.float64)
    except (ValueError, TypeError):
        raise ValueError(
            f"{owner} needs a square matrix of numbers, one row and one column per "
            f"class, but got {matrix!r}. Pass a matrix of shape (n_classes, n_classes)."
        ) from None
    if checked.ndim != 2 or checked.shape[0] != checked.shape[1] or not checked.size:
        raise ValueError(
            f"{owner} needs a square matrix with one row and one column per class, but "
            f"got an array of shape {checked.shape}. Pass a matrix of shape "
            "(n_classes, n_classes)."
        )
    _refuse_entry(~np.isfinite(checked), checked, owner, "finite")
    _refuse_entry(checked < 0, checked, owner, "non-negative")

    sums = checked.sum(axis=1)
    excess = sums - 1
    row = int(np.abs(excess).argmax())
    if abs(excess[row]) > _ROUNDING:
        direction = "more" if excess[row] > 0 else "less"
        raise ValueError(
            f"{owner} needs a row-stochastic matrix, every row summing to 1, but row "
            f"{row} sums to {sums[row]:.6g}, which is {abs(excess[row]):.3g} "
            f"{direction} than 1. If its columns sum to 1, pass matrix.T; if it has "
            "counts, divide each row by its sum."
        )
    return checked / sums[:, np.newaxis]


def _refuse_entry(
    bad: NDArray[np.bool_], matrix: NDArray[np.float64], owner: str, wanted: str
) -> None:
    if bad.any():
        row, column = map(int, np.argwhere(bad)[0])
        raise ValueError(
            f"{owner} needs a matrix of {wanted} probabilities, but the entry in row "
            f"{row} and column {column} is {matrix[row, column]}. Correct this entry."
        )
