"""The processes that train together."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from hashlib import blake2b
from typing import Any, TypeVar

import torch
from torch import Tensor

from skpresto._data.training_data import PredictionRows, TrainingData
from skpresto._label_quality.history import PredictionHistory
from skpresto._networks.net import NoisyLabelNet
from skpresto._parallel.exchange import Exchange
from skpresto._parallel.journal import SharedJournal
from skpresto._parallel.loop import ParallelLoop
from skpresto._parallel.randomness import own_randomness
from skpresto._parallel.shares import rows_of_share, share_of
from skpresto._resume.fingerprint import changed, fingerprint
from skpresto._training.journal import Journal
from skpresto._training.team import Predict
from skpresto.exceptions import ParallelError

T = TypeVar("T")

#: Parameters in which processes may differ: each may have a device of its own.
_MAY_DIFFER = ("parameter device", "parameter n_jobs")


class ProcessTeam:
    """Several processes, see :class:`~skpresto._training.team.Team`.

    Parameters
    ----------
    exchange : Exchange
        The processes.
    """

    is_alone = False

    def __init__(self, exchange: Exchange) -> None:
        self.exchange = exchange
        self.is_first = exchange.rank == 0

    @contextmanager
    def fitting(self) -> Iterator[None]:
        """Let all processes end a fit together, also if it fails in one of them."""
        try:
            yield
            self.exchange.gather()
        except ParallelError:
            raise
        except BaseException as error:
            self.exchange.announce(error)
            raise

    def check_same(self, estimator: Any, data: TrainingData) -> None:
        """Raise if processes differ in data, parameters or versions."""
        own = fingerprint(estimator, data)
        for name in _MAY_DIFFER:
            del own[name]
        own["type of device"] = torch.device(estimator.device).type
        first, *others = self.exchange.gather_objects(own)
        for rank, other in enumerate(others, start=1):
            if differing := changed(first, other):
                raise ValueError(
                    f"{type(estimator).__name__} in data_parallel needs the same fit "
                    f"in all processes, but process {rank} differs from process 0: "
                    f"{', '.join(differing)}. Give every process all rows, the same "
                    "parameters and the same versions; batches are divided among "
                    "them in the fit."
                )

    def agreed(self, value: T) -> T:
        """Return the value of the first process."""
        return self.exchange.gather_objects(value if self.is_first else None)[0]

    def shared(self, journal: Journal) -> Journal:
        """Return a journal that lets all processes resume from that of the first."""
        return SharedJournal(journal, self.exchange)

    def begin_training(self, net: NoisyLabelNet) -> None:
        """Give the new networks of all processes the same weights.

        They have the same already, unless a module draws its weights from generators
        other than torch's.
        """
        self._copy_first(_tensors_of(net))

    def end_epoch(self, net: NoisyLabelNet) -> None:
        """Raise if the networks of processes differ after an epoch.

        Buffers of integers, such as the number of batches in BatchNorm, are those of
        the first process, which has rows of every batch.
        """
        tensors = _tensors_of(net)
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

    def epoch_loop(
        self, net: NoisyLabelNet, history: PredictionHistory, weights: Tensor | None
    ) -> ParallelLoop:
        """Return what trains for one epoch at a time."""
        return ParallelLoop(net, history, weights, self.exchange)

    def _copy_first(self, tensors: list[Tensor]) -> None:
        """Set tensors to those of the first process."""
        digests = self.exchange.gather_objects(_digest(tensors))
        if all(digest == digests[0] for digest in digests):
            return
        values = self.agreed([t.detach().cpu() for t in tensors])
        with torch.no_grad():
            for tensor, value in zip(tensors, values, strict=True):
                tensor.copy_(value)


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
