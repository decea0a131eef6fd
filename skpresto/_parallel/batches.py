"""Batches of which a process reads its own rows only."""

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor
from torch.utils.data import DataLoader

from skpresto._data.batches import Announce, BatchOrder, TensorBatches
from skpresto._data.features import map_parts
from skpresto._data.training_data import TrainingRows
from skpresto._parallel.exchange import Exchange
from skpresto._parallel.shares import share_of


class DrawnOrder(BatchOrder):
    """An order that is drawn at once, before anything else draws random numbers."""

    def __init__(self, order: BatchOrder) -> None:
        super().__init__(order.n_rows, order.batch_size, order.shuffle, order.drop_last)
        self._drawn = order.draw()

    def draw(self) -> Tensor:
        """Return the positions that were drawn."""
        return self._drawn


class SharedTensorBatches(TensorBatches):
    """Batches of rows in memory: features of own rows, labels and positions of all."""

    def __init__(
        self,
        dataset: TrainingRows,
        order: BatchOrder,
        device: str | torch.device,
        announce: Announce,
        exchange: Exchange,
    ) -> None:
        super().__init__(dataset, order, device, announce)
        self.exchange = exchange

    def _features(self, index: Tensor, sizes: list[int]) -> Iterator[Any]:
        own = [_own(part, self.exchange) for part in index.split(sizes)]
        yield from super()._features(torch.cat(own), [len(part) for part in own])


class SharedLoaderBatches:
    """The same for rows that a ``DataLoader`` reads, maybe in worker processes.

    Features are None for a batch of which this process has no rows.
    """

    def __init__(
        self,
        dataset: TrainingRows,
        order: BatchOrder,
        device: str | torch.device,
        exchange: Exchange,
        loader_params: dict[str, Any],
    ) -> None:
        self.dataset = dataset
        self.order = order
        self.device = device
        self.exchange = exchange
        self.loader_params = loader_params

    def __iter__(self) -> Iterator[tuple[Any, Tensor, Tensor]]:
        dataset, batches = self.dataset, list(self.order)
        own = [_own(positions, self.exchange) for positions in batches]
        sampled: Any = [positions for positions in own if len(positions)]
        read = iter(DataLoader(dataset, batch_sampler=sampled, **self.loader_params))
        for positions, mine in zip(batches, own, strict=True):
            features = None
            if len(mine):
                features = map_parts(self._on_device, next(read)[0])
            index = positions if dataset.rows is None else dataset.rows[positions]
            labels = dataset.labels.index_select(0, index)
            yield features, labels.to(self.device), index.to(self.device)

    def _on_device(self, part: Any) -> Any:
        return part.to(self.device) if hasattr(part, "to") else part


def _own(rows: Tensor, exchange: Exchange) -> Tensor:
    return rows[share_of(len(rows), exchange.rank, exchange.size)]
