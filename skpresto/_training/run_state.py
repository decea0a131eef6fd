"""The state of a stage of training, as plain tensors and numbers."""

from collections import Counter
from dataclasses import asdict, fields
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from skpresto._training.checkpoint import Checkpoint
from skpresto._training.policy import SelectionPolicy
from skpresto.stopping import EpochRecord

if TYPE_CHECKING:
    from skpresto._training.trainer import Trainer

#: Objects of these packages are part of the state, with all that they refer to.
_OWN_PACKAGES = ("skpresto._selection.", "skpresto._label_quality.")
_NUMBERS = (bool, int, float, str, type(None))


class RunState:
    """Everything that a stage of training changes, to be stored and put back.

    These are the networks with optimizer, schedules, prediction history and random
    state, what the policy and the observer have collected, the records of the stage and
    skorch's history, and the checkpoints of epochs that may become the stop point.

    Parameters
    ----------
    trainer : Trainer
        At the begin of a stage.
    stage : str
        Name of the stage.
    policy : SelectionPolicy
        What each batch learns from.
    observe : callable or None
        Method of an object that collects predictions, or a function of several.
    """

    def __init__(
        self, trainer: "Trainer", stage: str, policy: SelectionPolicy, observe: Any
    ) -> None:
        self.trainer = trainer
        self.stage = stage
        self.first = len(trainer.records)
        roots = [policy, *observers_of(observe)]
        known = [trainer.history, trainer.labels]
        self._objects = own_objects(roots, known)
        self._shared = known

    @property
    def n_epochs(self) -> int:
        """Number of epochs of this stage that are complete."""
        return len(self.trainer.records) - self.first

    @property
    def contenders(self) -> list[int]:
        """Epochs of this stage whose checkpoint is kept."""
        return self.trainer.checkpoints.epochs

    def contender(self, epoch: int) -> dict[str, Any]:
        """Return the checkpoint of one of the contenders."""
        return _as_dict(self.trainer.checkpoints.get(epoch))

    def collect(self) -> dict[str, Any]:
        """Return the present state; tensors are not copied."""
        trainer = self.trainer
        checkpoint = Checkpoint.of(trainer.net, trainer.history, trainer.n_epochs)
        return {
            "stage": self.stage,
            "checkpoint": _as_dict(checkpoint),
            "objects": [attributes_of(part, self._shared) for part in self._objects],
            "records": [asdict(r) for r in trainer.records[self.first :]],
            "history": [plain(epoch) for epoch in trainer.net.history],
            "contenders": self.contenders,
        }

    def restore(
        self, state: dict[str, Any], contenders: dict[int, dict[str, Any]]
    ) -> None:
        """Put the stage into a state that :meth:`collect` returned."""
        trainer = self.trainer
        checkpoint = Checkpoint(**state["checkpoint"])
        checkpoint.restore(trainer.net, trainer.history)
        trainer.n_epochs = checkpoint.n_epochs
        for part, attributes in zip(self._objects, state["objects"], strict=True):
            set_attributes(part, attributes)
        trainer.records[self.first :] = [EpochRecord(**r) for r in state["records"]]
        trainer.net.history[:] = state["history"]
        for epoch, contender in contenders.items():
            trainer.checkpoints.put(epoch, Checkpoint(**contender))


def _as_dict(checkpoint: Checkpoint) -> dict[str, Any]:
    return {f.name: plain(getattr(checkpoint, f.name)) for f in fields(checkpoint)}


def observers_of(observe: Any) -> list[Any]:
    """Return the objects that an observer, a method or a function, adds visits to."""
    if hasattr(observe, "__self__"):
        return [observe.__self__]
    if _is_own(observe):
        return [observe]
    cells = getattr(observe, "__closure__", None) or ()
    return [part for cell in cells for part in observers_of(cell.cell_contents)]


def _is_own(part: Any) -> bool:
    return type(part).__module__.startswith(_OWN_PACKAGES) and hasattr(part, "__dict__")


def own_objects(roots: list[Any], known: list[Any]) -> list[Any]:
    """Return the objects of this package that ``roots`` refer to, each once.

    The order depends only on how they refer to each other. Those in ``known`` are left
    out.
    """
    found: list[Any] = []
    waiting = list(reversed(roots))
    while waiting:
        part = waiting.pop()
        if _is_own(part) and not _is_among(part, found + known):
            found.append(part)
            waiting.extend(reversed(vars(part).values()))
    return found


def _is_among(value: Any, others: list[Any]) -> bool:
    return any(value is other for other in others)


def attributes_of(part: Any, known: list[Any]) -> dict[str, Any]:
    """Return the attributes of an object that are tensors, numbers or lists of them."""
    return {
        name: plain(value)
        for name, value in vars(part).items()
        if is_plain(value) and not _is_among(value, known)
    }


def set_attributes(part: Any, attributes: dict[str, Any]) -> None:
    """Set attributes; tensors in place, since other objects may refer to them."""
    for name, value in attributes.items():
        present = vars(part).get(name)
        if isinstance(present, Tensor) and _is_alike(present, value):
            present.copy_(value)
        else:
            setattr(part, name, value)


def _is_alike(present: Tensor, value: Any) -> bool:
    return (
        isinstance(value, Tensor)
        and present.shape == value.shape
        and present.dtype == value.dtype
    )


def is_plain(value: Any) -> bool:
    """Return whether a value consists of tensors and numbers only."""
    if type(value) in (list, tuple):
        return all(map(is_plain, value))
    if isinstance(value, dict):
        return all(is_plain(k) and is_plain(v) for k, v in value.items())
    return isinstance(value, (*_NUMBERS, Tensor, np.generic))


def plain(value: Any) -> Any:
    """Return a value without numpy's numbers, which are not stored with tensors.

    Entries of a dict that are neither tensors nor numbers are left out.
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
