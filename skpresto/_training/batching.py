"""Mini-batches as whole tensors, not item by item.

skorch's default, a ``DataLoader`` over single rows, costs two to three times a plain
loop on tabular data. Arrays in memory are cut into batches here with one indexing
operation each; a ``Dataset``, or anything that needs worker processes, still goes
through a ``DataLoader``.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import Dataset


def take_rows(X: Any, index: Tensor) -> Tensor:
    """Return the rows of an array or tensor at ``index`` as a tensor.

    Only these rows of an array that is not a tensor, such as a memory map, are read.
    """
    if isinstance(X, Tensor):
        return X.index_select(0, index)
    return torch.from_numpy(np.asarray(X[index.numpy()], dtype=np.float32))


def _take_item(X: Any, row: int) -> Any:
    if isinstance(X, (Tensor, np.ndarray)):
        return take_rows(X, torch.tensor([row]))[0]
    item = X[row]
    return item[0] if isinstance(item, (tuple, list)) else item


class TrainingRows(Dataset):
    """Some rows of the training set, each with its label and its position.

    Parameters
    ----------
    X : Tensor, ndarray or Dataset
        All rows of the training set.
    labels : Tensor of shape (n_samples,)
        Class numbers of all rows.
    rows : Tensor of shape (n_rows,), or None
        Positions of the rows to train on; None means all.
    """

    def __init__(self, X: Any, labels: Tensor, rows: Tensor | None = None) -> None:
        self.X = X
        self.labels = labels
        self.rows = rows

    def __len__(self) -> int:
        return len(self.labels) if self.rows is None else len(self.rows)

    def __getitem__(self, position: int) -> tuple[Any, Tensor, int]:
        row = int(position if self.rows is None else self.rows[position])
        return _take_item(self.X, row), self.labels[row], row


class PredictionRows(Dataset):
    """Rows to predict, in order: all of ``X``, or those at ``rows``."""

    def __init__(self, X: Any, rows: Tensor | None = None) -> None:
        self.X = X
        self.rows = rows

    def __len__(self) -> int:
        return len(self.X) if self.rows is None else len(self.rows)

    def __getitem__(self, position: int) -> tuple[Any, int]:
        row = position if self.rows is None else int(self.rows[position])
        return _take_item(self.X, row), 0


class BatchOrder:
    """Cut the positions of ``n_rows`` rows into batches, anew in each iteration.

    A last batch of a single row joins the batch before it, since BatchNorm cannot be
    trained on one row. Can stand as the ``batch_sampler`` of a ``DataLoader``.
    """

    def __init__(
        self,
        n_rows: int,
        batch_size: int,
        shuffle: bool = True,
        drop_last: bool = False,
    ) -> None:
        self.n_rows = n_rows
        self.batch_size = n_rows if batch_size == -1 else batch_size
        self.shuffle = shuffle
        self.drop_last = drop_last

    def __len__(self) -> int:
        full, rest = divmod(self.n_rows, self.batch_size)
        if self._joins_before(rest) or (self.drop_last and full):
            rest = 0
        return full + (rest > 0)

    def _joins_before(self, rest: int) -> bool:
        return rest == 1 and not self.drop_last and self.n_rows > self.batch_size > 1

    def __iter__(self) -> Iterator[Tensor]:
        order = torch.randperm(self.n_rows) if self.shuffle else None
        if order is None:
            order = torch.arange(self.n_rows)
        n_batches = len(self)
        for start in range(0, n_batches * self.batch_size, self.batch_size):
            is_last = start == (n_batches - 1) * self.batch_size
            stop = start + self.batch_size
            if is_last and self._joins_before(self.n_rows - stop):
                stop = self.n_rows
            yield order[start:stop]


class TensorBatches:
    """Iterate over :class:`TrainingRows` in memory, in batches of whole tensors."""

    def __init__(self, dataset: TrainingRows, order: BatchOrder) -> None:
        self.dataset = dataset
        self.order = order

    def __len__(self) -> int:
        return len(self.order)

    def __iter__(self) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
        X, labels, rows = self.dataset.X, self.dataset.labels, self.dataset.rows
        for positions in self.order:
            index = positions if rows is None else rows.index_select(0, positions)
            yield take_rows(X, index), labels.index_select(0, index), index


class TensorBlocks:
    """Iterate over :class:`PredictionRows` in memory, in order, in large blocks."""

    def __init__(self, dataset: PredictionRows, batch_size: int) -> None:
        self.dataset = dataset
        self.batch_size = batch_size

    def __len__(self) -> int:
        return -(-len(self.dataset) // self.batch_size)

    def __iter__(self) -> Iterator[tuple[Tensor, int]]:
        X, rows = self.dataset.X, self.dataset.rows
        for start in range(0, len(self.dataset), self.batch_size):
            stop = start + self.batch_size
            if rows is not None:
                yield take_rows(X, rows[start:stop]), 0
            elif isinstance(X, Tensor):
                yield X[start:stop], 0
            else:
                yield torch.from_numpy(np.array(X[start:stop], dtype=np.float32)), 0


def rows_at_once(X: Any, batch_size: int) -> int:
    """Return how many rows of ``X`` to predict together: about a million numbers."""
    row_size = max(1, int(np.prod(X.shape[1:])))
    return max(batch_size, min(1 << 14, (1 << 20) // row_size))
