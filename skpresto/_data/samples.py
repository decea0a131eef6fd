"""Samples in memory or on disk, from which a batch of rows is read at a time."""

import math
from abc import ABC, abstractmethod
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from skpresto._data.features import on_device
from skpresto._data.mapped_file import mapped_file
from skpresto._data.order import ReadingOrder

#: Samples of at most so many bytes are kept on the device of a fit.
MAX_KEPT = 1 << 30


class SampleRows(ABC):
    """Samples that are read, and made dense tensors of, when they are needed.

    Attributes
    ----------
    sample_shape : tuple of int, dict, tuple of tuples, or None
        Shape of a sample; of samples of several parts, the shape of each; None if
        samples differ in shape.
    source : object
        The samples as users, scikit-learn and skorch's callbacks know them.
    """

    sample_shape: Any
    source: Any
    #: Whether many rows can be read at once, and not only item by item.
    is_in_memory = True
    #: The same samples on the device of a fit, if they are kept there.
    _kept: "SampleRows | None" = None

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def take(self, index: Tensor) -> Any:
        """Return the features of the samples at ``index``."""

    def slice(self, start: int, stop: int) -> Any:
        """Return the features of consecutive samples."""
        return self.take(torch.arange(start, min(stop, len(self))))

    def keep_on(self, device: torch.device) -> None:
        """Copy samples to a GPU, if they fit, so that batches are taken there."""
        size = self.nbytes
        if size is not None and size <= MAX_KEPT:
            self._kept = self._copied_to(device)

    @property
    def nearest(self) -> "SampleRows":
        """The samples on the device of the fit, if they are kept there, or here."""
        return self._kept or self

    @property
    def nbytes(self) -> int | None:
        """Memory of dense samples; None of others, which are read batch by batch."""
        return None

    def _copied_to(self, device: torch.device) -> "SampleRows":
        raise NotImplementedError

    def __getstate__(self) -> dict[str, Any]:
        # Worker processes read the samples here.
        return {k: v for k, v in vars(self).items() if k != "_kept"}

    def item(self, row: int) -> Any:
        """Return the features of one sample."""
        return self.take(torch.tensor([row]))[0]

    def items(self, rows: list[int]) -> list[Any]:
        """Return the features of several samples, one by one."""
        return [self.item(row) for row in rows]

    def reading_order(self, rows: Tensor | None) -> ReadingOrder | None:
        """Return how the samples at ``rows`` are best shuffled; None is at random."""
        return None

    @property
    def row_size(self) -> int:
        """Number of values in a row."""
        return max(1, math.prod(self.sample_shape))

    @property
    def is_table(self) -> bool:
        """Whether a sample is a row of numbers."""
        return len(self.sample_shape) == 1


class TensorRows(SampleRows):
    """The rows of a tensor.

    Parameters
    ----------
    X : Tensor
        The rows, on any device.
    source : ndarray, default=None
        The same rows, if they are not those of ``X``.
    """

    def __init__(self, X: Tensor, source: NDArray | None = None) -> None:
        self.X = X
        self.source = X.numpy() if source is None else source
        self.sample_shape = tuple(X.shape[1:])

    def __len__(self) -> int:
        return len(self.X)

    @property
    def nbytes(self) -> int:
        """Memory of the tensor."""
        return self.X.nbytes

    def _copied_to(self, device: torch.device) -> "TensorRows":
        return TensorRows(self.X.to(device), self.source)

    def take(self, index: Tensor) -> Tensor:
        """Return the rows at ``index``."""
        return self.X.index_select(0, on_device(index, self.X.device))

    def slice(self, start: int, stop: int) -> Tensor:
        """Return consecutive rows, without a copy."""
        return self.X[start:stop]


class ArrayRows(SampleRows):
    """The rows of an array or memory map, of which only those needed are read.

    Parameters
    ----------
    X : ndarray
        The array.
    keeps_integers : bool, default=False
        Whether integers and booleans keep their type; else they become float32, as
        floating-point numbers do.
    """

    def __init__(self, X: NDArray, keeps_integers: bool = False) -> None:
        self.source = X
        self.sample_shape = X.shape[1:]
        is_number = X.dtype.kind == "f" or not keeps_integers
        self._dtype = np.dtype(np.float32) if is_number else X.dtype
        self._file = mapped_file(X)

    def __len__(self) -> int:
        return len(self.source)

    def take(self, index: Tensor) -> Tensor:
        """Return the rows at ``index``."""
        rows = index.numpy()
        values = self.source[rows] if self._file is None else self._file.take(rows)
        return torch.from_numpy(np.asarray(values, dtype=self._dtype))

    def slice(self, start: int, stop: int) -> Tensor:
        """Return a copy of consecutive rows."""
        return torch.from_numpy(np.array(self.read(start, stop), dtype=self._dtype))

    def read(self, start: int, stop: int) -> NDArray:
        """Return consecutive rows in the type of the array."""
        if self._file is None:
            return self.source[start:stop]
        return self._file.slice(start, min(stop, len(self)))


class SparseRows(SampleRows):
    """The rows of a sparse matrix, of which only those needed are made dense.

    Parameters
    ----------
    X : sparse matrix or array in CSR format, dtype=float32
        The matrix.
    """

    def __init__(self, X: Any) -> None:
        self.source = X
        self.sample_shape = (X.shape[1],)

    def __len__(self) -> int:
        return self.source.shape[0]

    def take(self, index: Tensor) -> Tensor:
        """Return the rows at ``index``, dense."""
        return torch.from_numpy(self.source[index.numpy()].toarray())

    def slice(self, start: int, stop: int) -> Tensor:
        """Return consecutive rows, dense."""
        return torch.from_numpy(self.source[start:stop].toarray())
