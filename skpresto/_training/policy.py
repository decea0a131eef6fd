"""The interface between the training loop and the methods: batch in, selection out."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor

from skpresto._data.batch import Batch
from skpresto._data.state import Stateful
from skpresto._device import fraction_of

#: Maps logits (k, b, n_classes) and losses (k, b), both with gradients, to the losses
#: (k, b) that are minimized.
Objective = Callable[[Tensor, Tensor], Tensor]


class Selection(NamedTuple):
    """What each network learns from a mini-batch.

    Parameters
    ----------
    weights : Tensor of shape (k, b), or None
        Weight of each sample in the mean loss of each network; 0 or False excludes it.
        None weighs all samples equally. A network whose weights are all zero is not
        updated: parameters, optimizer state and BatchNorm statistics stay unchanged.
    targets : Tensor, or None
        What to learn instead of the given labels. An integer tensor of shape (b,) or
        (k, b) holds class numbers, a floating-point tensor of shape (b, n_classes) or
        (k, b, n_classes) holds class probabilities; the dtype decides, not the shape.
    objective : callable, or None
        ``objective(logits, losses)`` returns the losses to minimize, for methods with
        a further loss term. ``logits`` of shape (k, b, n_classes) and ``losses`` of
        shape (k, b), computed with the targets, carry gradients.
    """

    weights: Tensor | None = None
    targets: Tensor | None = None
    objective: Objective | None = None


class Policy(Stateful, ABC):
    """Decide for each mini-batch which samples are learned, and with which targets.

    A policy is created in ``fit`` and used for one or more stages of training. What it
    stores per sample is kept on the device of the network.
    """

    #: Whether a network may be left with nothing to learn from a batch.
    may_select_nothing = True
    #: Whether the losses of a batch carry gradients, which can be computed repeatedly.
    needs_gradients = False
    #: Whether networks are applied more than once to a batch, by ``batch.view``.
    needs_views = False
    #: Why it cannot be used on several processes; None if it can.
    refusal: str | None = None
    #: Of shape (n_samples,): which samples were learned with their given label at their
    #: last visit, if that is what the method takes for safe; None otherwise.
    selected: Tensor | None = None
    #: Fraction of wrong labels that the method was given, or has estimated.
    noise_rate: float | None = None

    @abstractmethod
    def select(self, batch: Batch) -> Selection:
        """Return what each network learns from the batch."""

    def is_safe(self) -> Tensor | None:
        """Return which given labels are safe at present; None means by vote."""
        return None

    def end_epoch(self) -> dict[str, Any]:
        """Do what is due after an epoch; return further fields for its record."""
        return {}


class LearnFromAll(Policy):
    """Learn from every sample with its given label."""

    may_select_nothing = False

    def select(self, batch: Batch) -> Selection:
        """Return the whole batch."""
        return Selection()


@dataclass
class LearnFromSubset(Policy):
    """Learn from a set of samples that does not change in the course of a stage.

    Parameters
    ----------
    is_learned : Tensor of shape (n_samples,), dtype=bool
        The samples to learn from.
    """

    is_learned: Tensor

    def select(self, batch: Batch) -> Selection:
        """Return the samples of the batch that are in the set."""
        is_learned = self.is_learned.index_select(0, batch.index)
        return Selection(weights=is_learned.to(batch.losses.dtype).unsqueeze(0))


class SelectingPolicy(Policy):
    """A policy that remembers which samples were selected at their last visit.

    They are written for many batches at once.
    """

    _state: tuple[str, ...] = ("_selected",)

    def __init__(self, n_samples: int, device: str | torch.device) -> None:
        self._selected = torch.zeros(n_samples, dtype=torch.bool, device=device)
        self._visits: list[tuple[Tensor, Tensor]] = []

    @property
    def selected(self) -> Tensor:  # type: ignore[override]
        """Of shape (n_samples,): which samples were selected at their last visit."""
        self._write()
        return self._selected

    def remember(self, index: Tensor, is_selected: Tensor) -> None:
        """Remember a batch: of shape (k, b), which samples each network selects."""
        self._visits.append((index, is_selected))

    def end_epoch(self) -> dict[str, Any]:
        """Write what was remembered."""
        self._write()
        return {}

    def _write(self) -> None:
        if not self._visits:
            return
        index, is_selected = zip(*self._visits, strict=True)
        by_any = torch.cat(is_selected, dim=1).any(dim=0)
        self._selected.index_copy_(0, torch.cat(index), by_any)
        self._visits.clear()


class RunningFraction:
    """Fraction of the visited samples for which a condition holds.

    It is counted on the device, once per epoch.
    """

    def __init__(self) -> None:
        self._visited: list[Tensor] = []

    def add(self, is_true: Tensor) -> None:
        """Add the samples of a batch."""
        self._visited.append(is_true)

    def take(self) -> float:
        """Return the fraction so far, 0 without samples, and begin anew."""
        visited, self._visited = self._visited, []
        return fraction_of(torch.cat(visited)) if visited else 0.0


class CorrectingPolicy(Policy):
    """A policy that replaces some labels, and counts how many."""

    def __init__(self) -> None:
        self._corrected = RunningFraction()

    def count_corrected(self, is_corrected: Tensor) -> None:
        """Count the samples of a batch that are learned with a corrected label."""
        self._corrected.add(is_corrected)

    def end_epoch(self) -> dict[str, float]:
        """Return the fraction of samples learned with a corrected label."""
        return {"corrected_fraction": self._corrected.take()}
