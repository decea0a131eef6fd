"""Batches of which a process reads its own rows only."""

from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.utils.data import DataLoader

from skpresto._data.batches import (
    Batches,
    TensorBatches,
    drawn_order,
    worker_seeds,
)
from skpresto._data.features import on_device
from skpresto._data.training_data import TrainingRows
from skpresto._parallel.exchange import Exchange
from skpresto._parallel.shares import LEAST_ROWS, share_of


def shared_batches(
    rows: TrainingRows,
    loader_params: dict[str, Any],
    device: str | torch.device,
    epoch: int,
    exchange: Exchange,
) -> Batches:
    """Return the batches of an epoch: features of own rows, labels and order of all.

    The parameters are those of :func:`~skpresto._data.batches.training_batches`.
    """
    drawn, params = drawn_order(rows, loader_params)
    own = [_own(positions, exchange) for positions in drawn]
    if rows.X.is_in_memory and not params:
        return TensorBatches(rows, drawn, device, read=own)
    return SharedLoaderBatches(rows, drawn, own, device, params, epoch)


class SharedLoaderBatches:
    """Batches that a ``DataLoader`` reads, maybe in worker processes.

    Features are None for a batch of which this process has no rows.
    """

    def __init__(
        self,
        rows: TrainingRows,
        drawn: Sequence[Tensor],
        own: Sequence[Tensor],
        device: str | torch.device,
        loader_params: dict[str, Any],
        epoch: int,
    ) -> None:
        self.rows = rows
        self.device = device
        self.loader_params = loader_params
        self.epoch = epoch
        self._own = own
        self._index = [rows.positions(part) for part in drawn]
        positions = on_device(torch.cat(self._index), device)
        self._positions = positions.split(list(map(len, self._index)))
        self.order: Sequence[Tensor] | None = self._positions

    def __iter__(self) -> Iterator[tuple[Any, Tensor, Tensor]]:
        sampled: Any = [part for part in self._own if len(part)]
        # Here, where random numbers are those of this process.
        params = {"generator": worker_seeds(self.epoch), **self.loader_params}
        read = iter(DataLoader(self.rows, batch_sampler=sampled, **params))
        every = zip(self._index, self._own, self._positions, strict=True)
        for index, own, positions in every:
            features = on_device(next(read)[0], self.device) if len(own) else None
            labels = self.rows.labels.index_select(0, index)
            yield features, on_device(labels, self.device), positions


def _own(rows: Tensor, exchange: Exchange) -> Tensor:
    return rows[share_of(len(rows), exchange.rank, exchange.size)]


def check_batches(params: dict[str, Any], n_processes: int) -> None:
    """Raise if batches cannot be divided among processes.

    Parameters
    ----------
    params : dict
        Parameters of the iterator over training batches, with ``batch_size``.
    n_processes : int
        Number of processes.
    """
    for name in ("sampler", "batch_sampler"):
        if params.get(name) is not None:
            raise ValueError(
                f"iterator_train__{name} cannot be used in data_parallel, since all "
                "processes must draw the same batches. Leave it out, or leave the "
                "block."
            )
    size, least = params["batch_size"], LEAST_ROWS * n_processes
    if size != -1 and size < least:
        raise ValueError(
            f"data_parallel with {n_processes} processes needs a batch_size of at "
            f"least {least}, so that each has {LEAST_ROWS} rows of a batch, got "
            f"{size}. Raise batch_size, or start fewer processes."
        )
