"""A stage of training, and what of it is stored so that a killed fit can go on."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import torch
from torch import Tensor

from skpresto._label_quality.recorder import Recorder
from skpresto._training.checkpoint import Checkpoint
from skpresto._training.policy import Policy
from skpresto.stopping import EpochRecord, StopRule

if TYPE_CHECKING:
    from skpresto._training.trainer import Trainer


@dataclass(frozen=True)
class Stage:
    """Epochs of training under one policy.

    Parameters
    ----------
    name : str
        Name of the stage, for the records.
    policy : Policy
        Decides what each batch learns from.
    n_epochs : int
        Largest number of epochs.
    phase : {1, 2}, default=None
        Whether this is the phase on all labels, in which the stop point is searched, or
        the one on selected labels. None for methods without phases.
    holdout : Tensor of positions, default=None
        Rows to leave out of training, and to measure the error on.
    rule : StopRule, default=None
        Ends the stage when it is settled, and chooses the stop point.
    until : callable, default=None
        Called after each epoch; the stage ends when it returns True.
    recorders : sequence of Recorder, default=()
        What collects predictions, beside the prediction history.
    folds : Tensor of shape (n_samples,), default=None
        Number of the network that does not train on each sample, -1 if all do.
    """

    name: str
    policy: Policy
    n_epochs: int
    phase: Literal[1, 2] | None = None
    holdout: Tensor | None = None
    rule: StopRule | None = None
    until: Callable[[], bool] | None = None
    recorders: Sequence[Recorder] = ()
    folds: Tensor | None = None


@dataclass(frozen=True)
class StageRun:
    """A stage that a Trainer carries out: how far it is, and its state.

    The state consists of networks with optimizer, schedules, prediction history and
    random state, what the policy and the recorders declare, the records of the stage
    and skorch's history, and the checkpoints of epochs that may become the stop point.

    Parameters
    ----------
    trainer : Trainer
        At the begin of the stage.
    stage : Stage
        The stage.
    first : int
        Number of epochs before it.
    """

    trainer: "Trainer"
    stage: Stage
    first: int

    @property
    def records(self) -> list[EpochRecord]:
        """Records of the epochs of this stage."""
        return self.trainer.records[self.first :]

    @property
    def is_over(self) -> bool:
        """Whether the rule or the condition of the stage ends it."""
        stage, records = self.stage, self.records
        if not records:
            return False
        if stage.rule is not None and stage.rule.is_settled(records):
            return True
        return stage.until is not None and stage.until()

    @property
    def contenders(self) -> list[int]:
        """Epochs of this stage whose checkpoint is kept."""
        return self.trainer.checkpoints.epochs

    def contender(self, epoch: int) -> dict[str, Any]:
        """Return the checkpoint of one of the contenders."""
        return _as_dict(self.trainer.checkpoints.get(epoch))

    def state_dict(self) -> dict[str, Any]:
        """Return the present state; tensors are not copied."""
        trainer, recorders = self.trainer, self.trainer.recorders_of(self.stage)
        return {
            "stage": self.stage.name,
            "checkpoint": _as_dict(trainer.checkpoint()),
            "policy": self.stage.policy.state_dict(),
            "recorders": [recorder.state_dict() for recorder in recorders],
            "records": [plain(asdict(record)) for record in self.records],
            "history": [plain(epoch) for epoch in trainer.net.history],
            "contenders": self.contenders,
        }

    def load_state_dict(
        self, state: dict[str, Any], contenders: dict[int, dict[str, Any]]
    ) -> None:
        """Put the stage into a state that :meth:`state_dict` returned."""
        trainer = self.trainer
        trainer.go_back(Checkpoint(**state["checkpoint"]))
        self.stage.policy.load_state_dict(state["policy"])
        recorders = trainer.recorders_of(self.stage)
        for recorder, stored in zip(recorders, state["recorders"], strict=True):
            recorder.load_state_dict(stored)
        trainer.records[self.first :] = [EpochRecord(**r) for r in state["records"]]
        trainer.net.history[:] = state["history"]
        for epoch, contender in contenders.items():
            trainer.checkpoints.put(epoch, Checkpoint(**contender))


def _as_dict(checkpoint: Checkpoint) -> dict[str, Any]:
    return {f.name: plain(getattr(checkpoint, f.name)) for f in fields(checkpoint)}


_NUMBERS = (bool, int, float, str, type(None))


def plain(value: Any) -> Any:
    """Return a value without numpy's numbers, which are not stored with tensors.

    Entries of a dict that are neither tensors nor numbers are left out: callbacks may
    write anything into skorch's history.
    """
    if isinstance(value, np.generic):
        return value.item()
    if type(value) in (list, tuple):
        return type(value)(map(plain, value))
    if isinstance(value, dict):
        entries = {k: plain(v) for k, v in value.items() if is_storable(v)}
        # Schedules count their milestones.
        return Counter(entries) if isinstance(value, Counter) else entries
    return value


def is_storable(value: Any) -> bool:
    """Return whether ``torch.load(weights_only=True)`` reads a value."""
    containers = (dict, list, tuple, torch.dtype, torch.Size)
    return isinstance(value, (*_NUMBERS, Tensor, np.generic, *containers))
