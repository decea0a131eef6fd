"""Checkpoints: everything that training changes, kept so that it can be undone."""

import copy
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch
from torch import Tensor

from skpresto._training.net import PolicyNet

#: Beyond this many bytes, further checkpoints of a run go to a temporary folder.
MEMORY_LIMIT = 1 << 26


@dataclass(frozen=True)
class Checkpoint:
    """The state of a net between two epochs: as if what follows had not happened."""

    n_epochs: int
    module: dict[str, Tensor]
    buffers: list[Tensor]
    criterion: dict[str, Tensor]
    optimizer: dict[str, Any]
    schedules: list[dict[str, Any]]
    label_history: tuple[Tensor, Tensor]
    random_states: dict[str, Tensor]

    @classmethod
    def of(cls, net: PolicyNet) -> "Checkpoint":
        """Return a copy of everything in ``net`` that training changes."""
        return cls(
            n_epochs=net.n_epochs_,
            module=copy.deepcopy(net.module_.state_dict()),
            # Those that are not saved with a module are not in its state_dict.
            buffers=[buffer.clone() for buffer in net.module_.buffers()],
            criterion=copy.deepcopy(net.criterion_.state_dict()),
            optimizer=copy.deepcopy(net.optimizer_.state_dict()),
            schedules=[_schedule_state(callback) for callback in net.lr_schedulers],
            label_history=net.label_history_.state(),
            random_states=_random_states(net.device),
        )

    def restore(self, net: PolicyNet) -> None:
        """Put ``net`` back into this state."""
        net.n_epochs_ = self.n_epochs
        net.module_.load_state_dict(self.module)
        for buffer, before in zip(net.module_.buffers(), self.buffers, strict=True):
            buffer.copy_(before)
        net.criterion_.load_state_dict(self.criterion)
        net.optimizer_.load_state_dict(self.optimizer)
        for callback, state in zip(net.lr_schedulers, self.schedules, strict=True):
            callback.batch_idx_ = state["batch_idx"]
            callback.lr_scheduler_.load_state_dict(copy.deepcopy(state["scheduler"]))
        net.label_history_.restore(self.label_history)
        del net.history[self.n_epochs :]
        _set_random_states(self.random_states, net.device)

    @property
    def nbytes(self) -> int:
        """Memory taken by the tensors of the checkpoint."""
        per_parameter = self.optimizer["state"].values()
        tensors = [
            *self.module.values(),
            *self.buffers,
            *self.criterion.values(),
            *(value for state in per_parameter for value in state.values()),
            *self.label_history,
        ]
        return sum(t.nbytes for t in tensors if isinstance(t, Tensor))


def _schedule_state(callback: Any) -> dict[str, Any]:
    return {
        "batch_idx": callback.batch_idx_,
        "scheduler": copy.deepcopy(callback.lr_scheduler_.state_dict()),
    }


def _random_states(device: str | torch.device) -> dict[str, Tensor]:
    states = {"cpu": torch.get_rng_state()}
    if torch.device(device).type == "cuda":
        states["cuda"] = torch.cuda.get_rng_state(device)
    return states


def _set_random_states(states: dict[str, Tensor], device: str | torch.device) -> None:
    torch.set_rng_state(states["cpu"])
    if "cuda" in states:
        torch.cuda.set_rng_state(states["cuda"], device)


class CheckpointShelf:
    """Keep checkpoints by epoch, in memory while they are small, else on disk.

    Parameters
    ----------
    memory_limit : int
        Bytes that may be kept in memory.
    """

    def __init__(self, memory_limit: int = MEMORY_LIMIT) -> None:
        self.memory_limit = memory_limit
        self._kept: dict[int, Checkpoint | Path] = {}
        self._folder: TemporaryDirectory | None = None

    def __contains__(self, epoch: int) -> bool:
        return epoch in self._kept

    def put(self, epoch: int, checkpoint: Checkpoint) -> None:
        """Keep ``checkpoint`` as that of ``epoch``."""
        in_memory = sum(
            kept.nbytes for kept in self._kept.values() if isinstance(kept, Checkpoint)
        )
        if in_memory + checkpoint.nbytes <= self.memory_limit:
            self._kept[epoch] = checkpoint
            return
        if self._folder is None:
            self._folder = TemporaryDirectory(prefix="skpresto-")
        path = Path(self._folder.name) / f"{epoch}.pt"
        torch.save(checkpoint, path)
        self._kept[epoch] = path

    def keep_only(self, epochs: Collection[int]) -> None:
        """Drop the checkpoints of all other epochs."""
        for epoch in set(self._kept) - set(epochs):
            dropped = self._kept.pop(epoch)
            if isinstance(dropped, Path):
                dropped.unlink()

    def get(self, epoch: int) -> Checkpoint:
        """Return the checkpoint of ``epoch``."""
        kept = self._kept[epoch]
        if isinstance(kept, Path):
            # Written by this very object a moment ago, so it can be trusted.
            return torch.load(kept, weights_only=False)
        return kept

    def clear(self) -> None:
        """Drop everything."""
        self._kept.clear()
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None
