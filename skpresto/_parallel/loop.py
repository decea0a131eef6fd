"""One epoch of training, in which each process evaluates a part of every batch."""

from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor

from skpresto._data.batches import take_order
from skpresto._data.training_data import TrainingRows
from skpresto._label_quality.history import PredictionHistory
from skpresto._networks.net import NoisyLabelNet, worker_seeds
from skpresto._parallel.batches import (
    DrawnOrder,
    SharedLoaderBatches,
    SharedTensorBatches,
)
from skpresto._parallel.exchange import Exchange
from skpresto._parallel.randomness import own_randomness
from skpresto._parallel.shares import LEAST_ROWS, WholeBatch, share_of
from skpresto._parallel.steps import ParallelStep
from skpresto._training.epoch import EpochLoop, Observer
from skpresto._training.policy import SelectionPolicy
from skpresto._training.step import Step
from skpresto._training.tally import EpochSums


class ParallelLoop(EpochLoop):
    """Evaluate the networks on own rows, and assemble the outputs of all processes.

    What follows from the outputs is that of the ordinary loop, on the whole batch.

    Parameters
    ----------
    net, history, sample_weight
        As in :class:`~skpresto._training.epoch.EpochLoop`.
    exchange : Exchange
        The processes.
    """

    def __init__(
        self,
        net: NoisyLabelNet,
        history: PredictionHistory,
        sample_weight: Tensor | None,
        exchange: Exchange,
    ) -> None:
        super().__init__(net, history, sample_weight)
        self.exchange = exchange
        self.infer = self._outputs_of_all
        self._loader_params = net.get_params_for("iterator_train")
        self._loader_params.setdefault("batch_size", net.batch_size)
        check_batches(self._loader_params, exchange.size)
        self._order: DrawnOrder
        self._present: tuple[ParallelStep, int]

    def run(
        self,
        rows: TrainingRows,
        policy: SelectionPolicy,
        epoch: int,
        observe: Observer | None = None,
    ) -> EpochSums:
        """Train for one epoch."""
        if policy.needs_gradients:
            raise ValueError(
                "Learning to Reweight cannot be used in data_parallel: it needs the "
                "gradient of each sample, and a process has only those of its part of "
                "a batch. Leave the block, or choose another method."
            )
        params = dict(self._loader_params)
        self._order = DrawnOrder(take_order(rows, params))
        with own_randomness(self.exchange.rank, epoch, self.net.device):
            return super().run(rows, policy, epoch, observe)

    def _batches(self, rows: TrainingRows, epoch: int) -> Iterable:
        params = dict(self._loader_params)
        take_order(rows, params)
        parts = rows, self._order, self.net.device
        if rows.X.is_in_memory and not params:
            return SharedTensorBatches(*parts, self.history.expect, self.exchange)
        params.setdefault("generator", worker_seeds(epoch))
        return SharedLoaderBatches(*parts, self.exchange, params)

    def _learn(self, batch: tuple[Any, Tensor, Tensor], *args: Any) -> Tensor:
        step = next(part for part in args if isinstance(part, ParallelStep))
        self._present = step, len(batch[1])
        return super()._learn(batch, *args)

    def _outputs_of_all(self, features: Any) -> Tensor:
        """Return the outputs for a batch, of whose features only the own are given."""
        step, n_rows = self._present
        share = share_of(n_rows, self.exchange.rank, self.exchange.size)
        n_own = share.stop - share.start
        own = self.net.infer(features) if n_own else self._no_outputs()
        outputs = WholeBatch.apply(own, self.exchange, n_rows)
        step.expect(n_own / n_rows)
        return outputs

    def _no_outputs(self) -> Tensor:
        """Return the outputs for no rows, so that a backward pass is possible."""
        n_networks = len(self.net.networks)
        leading = (n_networks,) if n_networks > 1 else ()
        shape = (*leading, 0, self.history.n_classes)
        return torch.zeros(shape, device=self.net.device, requires_grad=True)

    def _step(self, policy: SelectionPolicy) -> Step:
        net = self.net
        return ParallelStep(
            net.module_,
            net.optimizer_,
            net.notify_gradients if net.has_gradient_callbacks else None,
            net.scaler_,
            criterion=net.criterion_,
            exchange=self.exchange,
        )


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
