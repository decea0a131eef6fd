"""All samples in blocks, so that intermediate results stay small."""

from collections.abc import Iterator

import torch
from torch import Tensor

from skpresto._heap import return_freed_memory

# Limits of a block, of many samples of few classes or few samples of many classes.
_SAMPLES_AT_ONCE = 1 << 14
_VALUES_AT_ONCE = 1 << 20
# Matrices of more values are worth returning memory to the system for.
_LARGE_MATRIX = 1 << 24


def blocks(n_rows: int, n_columns: int) -> Iterator[slice]:
    """Yield slices that together are all rows of a matrix.

    Examples
    --------
    >>> [part.stop - part.start for part in blocks(1000, n_columns=2500)]
    [419, 419, 162]
    """
    at_once = max(1, min(_SAMPLES_AT_ONCE, _VALUES_AT_ONCE // n_columns))
    is_large = n_rows * n_columns > _LARGE_MATRIX
    for start in range(0, n_rows, at_once):
        yield slice(start, min(start + at_once, n_rows))
        if is_large:
            return_freed_memory()


def row_sums(matrix: Tensor) -> Tensor:
    """Return the sum of each row, in single precision.

    Block by block, since torch would copy a whole matrix in half precision for it.
    """
    parts = [matrix[part].float().sum(dim=1) for part in blocks(*matrix.shape)]
    return torch.cat(parts)
