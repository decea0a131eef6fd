"""Mini-batches as whole tensors, not item by item.

skorch's default, a ``DataLoader`` over single rows, takes two to three times as long as
a plain loop on tabular data. Arrays in memory are cut into batches here with one
indexing operation per batch or less; a ``Dataset``, or anything that needs worker
processes, still goes through a ``DataLoader``. The order of an epoch is drawn before
its first batch is read.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import torch
from torch import Tensor
from torch.utils.data import DataLoader

from skpresto._data.features import on_device, split_rows
from skpresto._data.training_data import PredictionRows, TrainingRows

#: A last batch smaller than this fraction of the others is merged into the previous.
_SMALLEST_BATCH = 1 / 8
#: Rows of training batches that are read together, if they are short.
_ROWS_AT_ONCE = 1 << 13
#: Rows that are read together for prediction.
_ROWS_READ = 1 << 12
#: Values that are read from ``X`` together: 4 MB.
_VALUES_READ = 1 << 20


class Batches(Protocol):
    """The batches of an epoch: features, labels and positions, on a device.

    Attributes
    ----------
    order : sequence of Tensor, or None
        Positions of the samples of each batch, on the device. None if a sampler of the
        user draws them one after the other.
    """

    order: Sequence[Tensor] | None

    def __iter__(self) -> Iterator[tuple[Any, Tensor, Tensor]]: ...


class TensorBatches:
    """Batches of rows in memory, as whole tensors.

    Many batches are read together and then cut apart, which takes less time than
    reading each by itself.

    Parameters
    ----------
    rows : TrainingRows
        What to cut into batches.
    drawn : sequence of Tensor
        Positions of the rows of each batch, among ``rows``.
    device : str or torch.device, default="cpu"
        Where the batches are needed.
    read : sequence of Tensor, default=None
        The rows of each batch whose features are read; None means all of them.
    """

    def __init__(
        self,
        rows: TrainingRows,
        drawn: Sequence[Tensor],
        device: str | torch.device = "cpu",
        read: Sequence[Tensor] | None = None,
    ) -> None:
        self.X = rows.X.nearest
        self.device = device
        sizes = list(map(len, drawn))
        index = rows.positions(torch.cat(list(drawn)))
        positions = on_device(index, device)
        self.order = positions.split(sizes)
        labels = rows.labels.index_select(0, index)
        self._labels = on_device(labels, device).split(sizes)
        if read is not None:
            sizes, index = list(map(len, read)), rows.positions(torch.cat(list(read)))
        # Where samples are kept on the device, they are taken by positions there.
        is_near = self.X is not rows.X
        self._sizes, self._index = sizes, on_device(index, device) if is_near else index

    def __iter__(self) -> Iterator[tuple[Any, Tensor, Tensor]]:
        return zip(self._features(), self._labels, self.order, strict=True)

    def _features(self) -> Iterator[Any]:
        """Yield the features of each batch, read together if they are small."""
        at_once = max(1, _ROWS_AT_ONCE // max(1, self._sizes[0]))
        start = 0
        for first in range(0, len(self._sizes), at_once):
            sizes = self._sizes[first : first + at_once]
            index = self._index[start : start + sum(sizes)]
            start += len(index)
            is_small = len(index) * self.X.row_size <= _VALUES_READ
            for part in (index,) if is_small else index.split(sizes):
                features = on_device(self.X.take(part), self.device)
                yield from split_rows(features, sizes) if is_small else (features,)


@dataclass
class LoaderBatches:
    """Batches that a ``DataLoader`` reads.

    Parameters
    ----------
    loader : DataLoader
        Yields features, labels and positions.
    order : sequence of Tensor, or None
        As in :class:`Batches`.
    device : str or torch.device
        Where the batches are needed.
    """

    loader: DataLoader
    order: Sequence[Tensor] | None
    device: str | torch.device

    def __iter__(self) -> Iterator[tuple[Any, Tensor, Tensor]]:
        for batch in self.loader:
            yield on_device(tuple(batch), self.device)


@dataclass
class TensorBlocks:
    """Rows to predict that are in memory, in order, in large blocks."""

    dataset: PredictionRows
    batch_size: int

    def __len__(self) -> int:
        return -(-len(self.dataset) // self.batch_size)

    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        X, rows, labels = self.dataset.X.nearest, self.dataset.rows, self.dataset.labels
        for start in range(0, len(self.dataset), self.batch_size):
            stop = start + self.batch_size
            theirs = 0 if labels is None else labels[start:stop]
            if rows is None:
                yield X.slice(start, stop), theirs
            else:
                yield X.take(rows[start:stop]), theirs


def batch_sizes(n_rows: int, batch_size: int, drop_last: bool = False) -> list[int]:
    """Return the number of rows in each batch of an epoch.

    Remaining rows that would make a last batch smaller than an eighth of the others
    are merged into the previous batch. BatchNorm cannot be trained on a single row,
    and a full step with the statistics of a few rows harms the network.

    Examples
    --------
    >>> batch_sizes(100, 32), batch_sizes(99, 32), batch_sizes(99, 32, drop_last=True)
    ([32, 32, 32, 4], [32, 32, 35], [32, 32, 32])
    """
    batch_size = n_rows if batch_size == -1 else batch_size
    n_full, rest = divmod(n_rows, batch_size)
    sizes = [batch_size] * n_full
    is_few = rest == 1 or rest < _SMALLEST_BATCH * batch_size
    if is_few and n_full and not drop_last:
        sizes[-1] += rest
    elif rest and not (drop_last and n_full):
        sizes.append(rest)
    return sizes


def drawn_order(
    rows: TrainingRows, loader_params: dict[str, Any]
) -> tuple[Sequence[Tensor], dict[str, Any]]:
    """Return the rows of each batch of an epoch, and what else a loader is given."""
    params, n_rows = dict(loader_params), len(rows)
    sizes = batch_sizes(
        n_rows, params.pop("batch_size"), params.pop("drop_last", False)
    )
    reading = rows.X.reading_order(rows.rows)
    if not params.pop("shuffle", True):
        order = torch.arange(n_rows)
    elif reading is not None:
        order = reading.draw()
    else:
        order = torch.randperm(n_rows)
    return order[: sum(sizes)].split(sizes), params


def training_batches(
    rows: TrainingRows,
    loader_params: dict[str, Any],
    device: str | torch.device,
    epoch: int,
) -> Batches:
    """Return the batches of an epoch, whose order is drawn at once.

    Parameters
    ----------
    rows : TrainingRows
        What to train on.
    loader_params : dict
        Arguments of ``DataLoader``, with ``batch_size``.
    device : str or torch.device
        Where the batches are needed.
    epoch : int
        Number of the epoch; with torch's seed, it seeds worker processes.
    """
    drawn, params = drawn_order(rows, loader_params)
    if rows.X.is_in_memory and not params:
        return TensorBatches(rows, drawn, device)
    params.setdefault("generator", worker_seeds(epoch))
    loader = DataLoader(rows, batch_sampler=drawn, **params)  # type: ignore[arg-type]
    positions = on_device(rows.positions(torch.cat(list(drawn))), device)
    order = positions.split(list(map(len, drawn)))
    return LoaderBatches(loader, order, device)


def prediction_batches(
    dataset: PredictionRows, loader_params: dict[str, Any], epoch: int
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
    params.setdefault("generator", worker_seeds(epoch))
    return DataLoader(dataset, **params)


def worker_seeds(epoch: int) -> torch.Generator:
    """Return a generator for worker processes that leaves torch's own unchanged."""
    return torch.Generator().manual_seed((torch.initial_seed() + epoch) % (1 << 63))
