"""What several processes do otherwise than one in every batch and epoch."""

from collections.abc import Iterable
from contextlib import AbstractContextManager
from hashlib import blake2b
from typing import TypeVar

import torch
from torch import Tensor

from skpresto._data.batches import Batches
from skpresto._data.training_data import PredictionRows, TrainingRows
from skpresto._networks.net import NoisyLabelNet, Predict
from skpresto._parallel.exchange import Exchange
from skpresto._parallel.randomness import own_randomness
from skpresto._parallel.shared_batches import check_batches, shared_batches
from skpresto._parallel.shared_step import ParallelStep
from skpresto._parallel.shares import rows_of_share, share_of
from skpresto._training.machinery import Machinery
from skpresto._training.policy import Policy
from skpresto.exceptions import ParallelError

T = TypeVar("T")


class SharedMachinery(Machinery):
    """Evaluate the networks on own rows, and assemble the outputs of all processes.

    What follows from the outputs is that of one process, on the whole batch.

    Parameters
    ----------
    net : NoisyLabelNet
        The net of this process.
    n_classes : int
        Number of classes.
    exchange : Exchange
        The processes.
    """

    def __init__(self, net: NoisyLabelNet, n_classes: int, exchange: Exchange) -> None:
        super().__init__(net)
        self.n_classes = n_classes
        self.exchange = exchange
        check_batches(net.training_params(), exchange.size)

    def batches(self, rows: TrainingRows, epoch: int) -> Batches:
        """Return the batches of an epoch, of which this process reads its own rows."""
        net = self.net
        params = net.training_params()
        return shared_batches(rows, params, net.device, epoch, self.exchange)

    def step(self, policy: Policy, is_weighted: bool) -> ParallelStep:
        """Return a step with the gradients of all processes."""
        if policy.refusal is not None:
            raise ValueError(policy.refusal)
        return ParallelStep(self.net, self.n_classes, self.exchange)

    def randomness(self, epoch: int) -> AbstractContextManager[None]:
        """Return a context with random numbers of this process."""
        return own_randomness(self.exchange.rank, epoch, self.net.device)

    def agreed(self, value: T) -> T:
        """Return the value of the first process."""
        return first_of(self.exchange, value)

    def begin_training(self) -> None:
        """Give the new networks of all processes the same weights.

        They have the same already, unless a module draws its weights from generators
        other than torch's.
        """
        self._copy_first(_tensors_of(self.net))

    def end_epoch(self) -> None:
        """Raise if the networks of processes differ after an epoch.

        Buffers of integers, such as the number of batches in BatchNorm, are those of
        the first process, which has rows of every batch.
        """
        tensors = _tensors_of(self.net)
        self._copy_first([t for t in tensors if not t.is_floating_point()])
        digest = _digest([t for t in tensors if t.is_floating_point()])
        digests = self.exchange.gather_objects(digest)
        if others := [r for r, other in enumerate(digests) if other != digests[0]]:
            raise ParallelError(
                f"The networks of processes 0 and {others[0]} differ after an epoch "
                "in data_parallel. Something changes weights in some processes only: "
                "a callback, or a module that initializes itself from the samples it "
                "sees first."
            )

    def predict(self, function: Predict, rows: PredictionRows) -> Tensor:
        """Return what a function predicts for rows, each process for some of them."""
        exchange, own = self.exchange, None
        share = share_of(len(rows), exchange.rank, exchange.size)
        if share.start < share.stop:
            with own_randomness(exchange.rank, 0, "cpu"):
                predicted = function(rows_of_share(rows, share))
            own = predicted.cpu().numpy()
        parts = [part for part in exchange.gather_objects(own) if part is not None]
        return torch.cat([torch.from_numpy(part) for part in parts])

    def _copy_first(self, tensors: list[Tensor]) -> None:
        """Set tensors to those of the first process."""
        digests = self.exchange.gather_objects(_digest(tensors))
        if all(digest == digests[0] for digest in digests):
            return
        values = self.agreed([t.detach().cpu() for t in tensors])
        with torch.no_grad():
            for tensor, value in zip(tensors, values, strict=True):
                tensor.copy_(value)


def first_of(exchange: Exchange, value: T) -> T:
    """Return the value of the first process."""
    return exchange.gather_objects(value if exchange.rank == 0 else None)[0]


def _tensors_of(net: NoisyLabelNet) -> list[Tensor]:
    """Return parameters and buffers of all networks and of the criterion."""
    parts = net.module_, net.criterion_
    return [t for part in parts for t in (*part.parameters(), *part.buffers())]


def _digest(tensors: Iterable[Tensor]) -> bytes:
    hasher = blake2b(digest_size=16)
    for tensor in tensors:
        flat = tensor.detach().cpu().contiguous().reshape(-1)
        hasher.update(flat.view(torch.uint8).numpy().data)
    return hasher.digest()
