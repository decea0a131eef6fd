"""Mini-batches as whole tensors, not item by item.

skorch's default, a ``DataLoader`` over single rows, takes two to three times as long as
a plain loop on tabular data. Arrays in memory are cut into batches here with one
indexing operation per batch or less; a ``Dataset``, or anything that needs worker
processes, still goes through a ``DataLoader``.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.utils.data import DataLoader

from skpresto._data.features import map_parts, split_rows
from skpresto._data.reading_order import ReadingOrder
from skpresto._data.training_data import PredictionRows, TrainingRows

#: A last batch smaller than this fraction of the others is merged into the previous.
_SMALLEST_BATCH = 1 / 8
#: Rows of training batches that are looked up together.
_ROWS_LOOKED_UP = 1 << 13
#: Rows that are read together for prediction.
_ROWS_READ = 1 << 12
#: Values that are read from ``X`` together: 4 MB.
_VALUES_READ = 1 << 20

Announce = Callable[[Sequence[Tensor], Sequence[Tensor]], None]


class BatchOrder:
    """Cut the positions of ``n_rows`` rows into batches, anew in each iteration.

    Remaining rows that would make a last batch smaller than an eighth of the others
    are merged into the previous batch. BatchNorm cannot be trained on a single row,
    and a full step with the statistics of a few rows harms the network. Can be used as
    the ``batch_sampler`` of a ``DataLoader``.
    """

    def __init__(
        self,
        n_rows: int,
        batch_size: int,
        shuffle: bool = True,
        drop_last: bool = False,
        reading: ReadingOrder | None = None,
    ) -> None:
        self.n_rows = n_rows
        self.batch_size = n_rows if batch_size == -1 else batch_size
        self.shuffle = shuffle
        self.drop_last = drop_last
        self.reading = reading

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
        if not self.shuffle:
            return torch.arange(self.n_rows)
        if self.reading is not None:
            return self.reading.draw()
        return torch.randperm(self.n_rows)

    def __len__(self) -> int:
        return len(self.sizes)

    def __iter__(self) -> Iterator[Tensor]:
        sizes = self.sizes
        yield from self.draw()[: sum(sizes)].split(sizes)


class TensorBatches:
    """Iterate over :class:`TrainingRows` in memory, in batches of whole tensors.

    Many batches are read together and then cut apart, which takes less time than
    reading each by itself.

    Parameters
    ----------
    dataset : TrainingRows
        What to cut into batches.
    order : BatchOrder
        How to cut.
    device : str or torch.device, default="cpu"
        Where the batches are needed.
    announce : callable, default=None
        Called with the positions and the labels of several batches before these are
        yielded.
    """

    def __init__(
        self,
        dataset: TrainingRows,
        order: BatchOrder,
        device: str | torch.device = "cpu",
        announce: Announce | None = None,
    ) -> None:
        self.dataset = dataset
        self.order = order
        self.device = device
        self.announce = announce

    def __len__(self) -> int:
        return len(self.order)

    def __iter__(self) -> Iterator[tuple[Any, Tensor, Tensor]]:
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

    def _features(self, index: Tensor, sizes: list[int]) -> Iterator[Any]:
        """Yield the features of each batch, read together if they are small."""
        X = self.dataset.X
        if len(index) * X.row_size <= _VALUES_READ:
            yield from split_rows(self._read(index), sizes)
        else:
            yield from map(self._read, index.split(sizes))

    def _read(self, index: Tensor) -> Any:
        features = self.dataset.X.take(index)
        return map_parts(lambda part: part.to(self.device), features)


class TensorBlocks:
    """Iterate over :class:`PredictionRows` in memory, in order, in large blocks."""

    def __init__(self, dataset: PredictionRows, batch_size: int) -> None:
        self.dataset = dataset
        self.batch_size = batch_size

    def __len__(self) -> int:
        return -(-len(self.dataset) // self.batch_size)

    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        X, rows, labels = self.dataset.X, self.dataset.rows, self.dataset.labels
        for start in range(0, len(self.dataset), self.batch_size):
            stop = start + self.batch_size
            theirs = 0 if labels is None else labels[start:stop]
            if rows is None:
                yield X.slice(start, stop), theirs
            else:
                yield X.take(rows[start:stop]), theirs


def take_order(dataset: TrainingRows, params: dict[str, Any]) -> BatchOrder:
    """Return how rows are cut into batches; remove that from the parameters."""
    return BatchOrder(
        len(dataset),
        params.pop("batch_size"),
        params.pop("shuffle", True),
        params.pop("drop_last", False),
        dataset.X.reading_order(dataset.rows),
    )


def training_batches(
    dataset: TrainingRows,
    loader_params: dict[str, Any],
    *,
    device: str | torch.device,
    announce: Announce,
    generator: torch.Generator,
) -> TensorBatches | DataLoader:
    """Return the batches of an epoch.

    Parameters
    ----------
    dataset : TrainingRows
        What to train on.
    loader_params : dict
        Arguments of ``DataLoader``, with ``batch_size``.
    device : str or torch.device
        Where the batches are needed.
    announce : callable
        As in :class:`TensorBatches`. A ``DataLoader`` does not announce batches.
    generator : torch.Generator
        Seeds worker processes.
    """
    params = dict(loader_params)
    order = take_order(dataset, params)
    if dataset.X.is_in_memory and not params:
        return TensorBatches(dataset, order, device, announce)
    params.setdefault("generator", generator)
    return DataLoader(dataset, batch_sampler=order, **params)  # type: ignore[arg-type]


def prediction_batches(
    dataset: PredictionRows, loader_params: dict[str, Any], generator: torch.Generator
) -> TensorBlocks | DataLoader:
    """Return rows to predict in order, with the arguments of a ``DataLoader``."""
    params = dict(loader_params)
    is_plain = dataset.X.is_in_memory and set(params) == {"batch_size"}
    if is_plain and dataset.X.is_table:
        # The size of a block has no effect on the result, so tables are read faster.
        at_once = min(_ROWS_READ, _VALUES_READ // dataset.X.row_size)
        return TensorBlocks(dataset, max(params["batch_size"], at_once))
    if is_plain:
        return TensorBlocks(dataset, params["batch_size"])
    params.setdefault("generator", generator)
    return DataLoader(dataset, **params)
