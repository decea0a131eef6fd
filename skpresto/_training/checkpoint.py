"""Checkpoints: everything that training changes, so that epochs can be undone."""

import copy
import tempfile
from collections.abc import Collection
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from operator import attrgetter
from typing import IO, Any

import torch
from torch import Tensor

from skpresto._device import random_states, set_random_states
from skpresto._label_quality.history import PredictionHistory
from skpresto._networks.net import NoisyLabelNet

#: Beyond this many bytes, further checkpoints are written to temporary files.
MEMORY_LIMIT = 1 << 26


@dataclass(frozen=True)
class Checkpoint:
    """The state of a training between two epochs."""

    n_epochs: int
    module: dict[str, Tensor]
    buffers: list[Tensor]
    criterion: dict[str, Tensor]
    optimizer: dict[str, Any]
    scaler: dict[str, Any]
    schedules: list[dict[str, Any]]
    predictions: dict[str, Tensor]
    random_states: dict[str, Tensor]

    @classmethod
    def of(
        cls, net: NoisyLabelNet, history: PredictionHistory, n_epochs: int
    ) -> "Checkpoint":
        """Return a copy of everything that training changes.

        skorch's history is not part of it: callbacks are not to see an epoch twice.
        """
        return cls(
            n_epochs=n_epochs,
            module=copy.deepcopy(net.module_.state_dict()),
            # state_dict() lacks the buffers that are not saved with a module.
            buffers=list(map(torch.clone, net.module_.buffers())),
            criterion=copy.deepcopy(net.criterion_.state_dict()),
            optimizer=copy.deepcopy(net.optimizer_.state_dict()),
            scaler={} if net.scaler_ is None else net.scaler_.state_dict(),
            schedules=list(map(_schedule_state, net.lr_schedulers)),
            predictions=history.state_dict(),
            random_states=random_states(torch.device(net.device)),
        )

    def restore(self, net: NoisyLabelNet, history: PredictionHistory) -> None:
        """Put net and predictions back into this state."""
        net.module_.load_state_dict(self.module)
        for buffer, before in zip(net.module_.buffers(), self.buffers, strict=True):
            buffer.copy_(before)
        net.criterion_.load_state_dict(self.criterion)
        net.optimizer_.load_state_dict(self.optimizer)
        if net.scaler_ is not None:
            net.scaler_.load_state_dict(self.scaler)
        for callback, state in zip(net.lr_schedulers, self.schedules, strict=True):
            callback.batch_idx_ = state["batch_idx"]
            callback.lr_scheduler_.load_state_dict(copy.deepcopy(state["scheduler"]))
        history.load_state_dict(self.predictions)
        set_random_states(self.random_states, torch.device(net.device))

    @property
    def nbytes(self) -> int:
        """Memory taken by the tensors of the checkpoint."""
        values = [*self.buffers]
        for part in (self.module, self.criterion, self.predictions):
            values += part.values()
        for state in self.optimizer["state"].values():
            values += state.values()
        return sum(map(attrgetter("nbytes"), filter(torch.is_tensor, values)))


def _schedule_state(callback: Any) -> dict[str, Any]:
    return {
        "batch_idx": callback.batch_idx_,
        "scheduler": copy.deepcopy(callback.lr_scheduler_.state_dict()),
    }


class CheckpointStore:
    """Keep checkpoints by epoch, in memory up to a limit, then on disk.

    Files have no name in the file system, so that nothing is left behind however the
    process ends, even if it is killed.

    Parameters
    ----------
    memory_limit : int
        Bytes that may be kept in memory.
    """

    def __init__(self, memory_limit: int = MEMORY_LIMIT) -> None:
        self.memory_limit = memory_limit
        self._kept: dict[int, Checkpoint | IO[bytes]] = {}

    @property
    def epochs(self) -> list[int]:
        """Epochs whose checkpoint is kept."""
        return sorted(self._kept)

    def put(self, epoch: int, checkpoint: Checkpoint) -> None:
        """Keep ``checkpoint`` as that of ``epoch``."""
        n_bytes = checkpoint.nbytes
        for kept in self._kept.values():
            n_bytes += kept.nbytes if isinstance(kept, Checkpoint) else 0
        fits = n_bytes <= self.memory_limit
        self._kept[epoch] = checkpoint if fits else _written(checkpoint)

    def keep_only(self, epochs: Collection[int]) -> None:
        """Drop the checkpoints of all other epochs."""
        for epoch in set(self._kept) - set(epochs):
            dropped = self._kept.pop(epoch)
            if not isinstance(dropped, Checkpoint):
                dropped.close()

    def get(self, epoch: int) -> Checkpoint:
        """Return the checkpoint of ``epoch``."""
        kept = self._kept[epoch]
        if isinstance(kept, Checkpoint):
            return kept
        kept.seek(0)
        # Written by this very object a moment ago, so it can be trusted.
        return torch.load(kept, weights_only=False)


def _written(checkpoint: Checkpoint) -> IO[bytes]:
    """Return a temporary file that contains the checkpoint."""
    with ExitStack() as on_failure:
        try:
            file = tempfile.TemporaryFile(prefix="skpresto-")  # noqa: SIM115
            on_failure.callback(_close, file)
            torch.save(checkpoint, file)
            file.flush()
        except (OSError, RuntimeError) as error:  # torch makes one of the other
            raise OSError(
                f"Training needs {checkpoint.nbytes / 1e6:.1f} MB for a checkpoint in "
                f"the folder for temporary files, {tempfile.gettempdir()}, but cannot "
                f"write there: {error}. Free space in that folder, or set the "
                "environment variable TMPDIR to another one before Python is started."
            ) from error
        on_failure.pop_all()
    return file


def _close(file: IO[bytes]) -> None:
    with suppress(OSError):  # what is still to be written finds no space either
        file.close()
