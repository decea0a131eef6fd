"""Mini-batches as whole tensors, not item by item.

skorch's default, a ``DataLoader`` over single rows, costs two to three times a plain
loop on tabular data. Arrays in memory are cut into batches here with one indexing
operation each; a ``Dataset``, or anything that needs worker processes, still goes
through a ``DataLoader``.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import Dataset

from skpresto._training.dataset_features import DatasetFeatures

#: A last batch below this share of the others joins the one before it.
_SMALLEST_BATCH = 1 / 8
#: Rows of training batches that are looked up together.
_ROWS_LOOKED_UP = 1 << 13
#: Rows that are predicted together; more do not fit the cache of a processor.
_ROWS_AT_ONCE = 1 << 12
#: Numbers that are fetched from ``X`` together: 4 MB.
_NUMBERS_AT_ONCE = 1 << 20


def take_rows(X: Any, index: Tensor) -> Tensor:
    """Return the rows of ``X`` at ``index`` as a tensor.

    Only these rows of a memory map or of a dataset are read.
    """
    if isinstance(X, Tensor):
        return X.index_select(0, index)
    if isinstance(X, DatasetFeatures):
        return X.take(index)
    return torch.from_numpy(np.asarray(X[index.numpy()], dtype=np.float32))


def _take_item(X: Any, row: int) -> Tensor:
    return take_rows(X, torch.tensor([row]))[0]


class TrainingRows(Dataset):
    """Some rows of the training set, each with its label and its position.

    Parameters
    ----------
    X : Tensor, ndarray or DatasetFeatures
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

    Rows left over that would make a last batch of less than an eighth of the others
    join the one before. BatchNorm cannot be trained on a single row, and the statistics
    of a few rows, with a step of full length, spoil what the epoch has learnt. Can
    stand as the ``batch_sampler`` of a ``DataLoader``.
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

    @property
    def sizes(self) -> list[int]:
        """Number of rows in each batch."""
        n_full, rest = divmod(self.n_rows, self.batch_size)
        sizes = [self.batch_size] * n_full
        is_few = rest == 1 or rest < _SMALLEST_BATCH * self.batch_size
        if is_few and n_full and not self.drop_last:
            sizes[-1] += rest
        elif rest and not (self.drop_last and n_full):
            sizes.append(rest)
        return sizes

    def draw(self) -> Tensor:
        """Return the positions of the rows in the order of an epoch."""
        if self.shuffle:
            return torch.randperm(self.n_rows)
        return torch.arange(self.n_rows)

    def __len__(self) -> int:
        return len(self.sizes)

    def __iter__(self) -> Iterator[Tensor]:
        sizes = self.sizes
        yield from self.draw()[: sum(sizes)].split(sizes)


class TensorBatches:
    """Iterate over :class:`TrainingRows` in memory, in batches of whole tensors.

    Many batches are fetched together and then cut apart, which costs less than
    fetching each by itself.

    Parameters
    ----------
    dataset : TrainingRows
        What to cut into batches.
    order : BatchOrder
        How to cut.
    device : str or torch.device, default="cpu"
        Where the batches are wanted.
    announce : callable, default=None
        Told the positions of the rows of the coming batches, and their labels, before
        these come.
    """

    def __init__(
        self,
        dataset: TrainingRows,
        order: BatchOrder,
        device: str | torch.device = "cpu",
        announce: Callable[[Sequence[Tensor], Sequence[Tensor]], None] | None = None,
    ) -> None:
        self.dataset = dataset
        self.order = order
        self.device = device
        self.announce = announce

    def __len__(self) -> int:
        return len(self.order)

    def __iter__(self) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
        labels, rows = self.dataset.labels, self.dataset.rows
        sizes, positions = self.order.sizes, self.order.draw()
        at_once = max(1, _ROWS_LOOKED_UP // self.order.batch_size)
        start = 0
        for first in range(0, len(sizes), at_once):
            some = sizes[first : first + at_once]
            part = positions[start : start + sum(some)]
            start += len(part)
            index = part if rows is None else rows.index_select(0, part)
            batches = index.to(self.device).split(some)
            their_labels = labels.index_select(0, index).to(self.device).split(some)
            if self.announce is not None:
                self.announce(batches, their_labels)
            features = self._features(index, some)
            yield from zip(features, their_labels, batches, strict=True)

    def _features(self, index: Tensor, sizes: list[int]) -> Iterator[Tensor]:
        """Yield the features of each batch, fetched together if they are small."""
        X = self.dataset.X
        if len(index) * row_size(X) <= _NUMBERS_AT_ONCE:
            yield from take_rows(X, index).to(self.device).split(sizes)
        else:
            for part in index.split(sizes):
                yield take_rows(X, part).to(self.device)


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


def row_size(X: Any) -> int:
    """Return how many numbers a row of ``X`` has."""
    return max(1, math.prod(X.shape[1:]))


def rows_at_once(X: Any, batch_size: int) -> int:
    """Return how many rows of ``X`` to predict together.

    Tables are predicted in large blocks. What convolutions make of an image is many
    times its size, and would not fit the processor's cache: images are predicted in
    batches as they are trained in.
    """
    if len(X.shape) > 2:
        return batch_size
    return max(batch_size, min(_ROWS_AT_ONCE, _NUMBERS_AT_ONCE // row_size(X)))


def is_in_memory(X: Any) -> bool:
    """Return whether rows can be had without reading a dataset item by item."""
    return isinstance(X, (Tensor, np.ndarray))
