"""The interface between the training loop and the methods: batch in, selection out."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

from torch import Tensor


class Batch(NamedTuple):
    """A mini-batch of b samples as k networks see it.

    It has no gradients, except the losses for policies with ``needs_gradients``.

    Parameters
    ----------
    index : Tensor of shape (b,)
        Positions of the samples in the training set.
    labels : Tensor of shape (b,)
        Given labels, as class numbers.
    logits : Tensor of shape (k, b, n_classes)
        Outputs of the training forward pass of each network.
    losses : Tensor of shape (k, b)
        Loss of each sample with respect to its given label.
    epoch : int
        Number of epochs completed by these networks.
    """

    index: Tensor  # type: ignore[assignment]  # hides tuple.index, which is not used
    labels: Tensor
    logits: Tensor
    losses: Tensor
    epoch: int


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


class AcceptsLabels(Protocol):
    """Something that states which given labels are accepted as correct."""

    def agrees(self, labels: Tensor) -> Tensor:
        """Return a boolean tensor with one entry per training sample."""
        ...


class SelectionPolicy(ABC):
    """Decide for each mini-batch which samples are learned, and with which targets.

    A policy is created in ``fit`` and used for one or more stages of training. What it
    stores per sample is kept on the device of the network.
    """

    #: Whether a network may be left with nothing to learn from a batch.
    may_select_nothing = True
    #: Whether the losses of a batch carry gradients, which can be computed repeatedly.
    needs_gradients = False
    #: Which labels the method accepts; None means the majority vote of the predictions.
    acceptance: AcceptsLabels | None = None

    @abstractmethod
    def select(self, batch: Batch) -> Selection:
        """Return what each network learns from the batch."""

    def epoch_summary(self) -> dict[str, Any]:
        """Return further fields for the record of the epoch that has just ended."""
        return {}


class LearnFromAll(SelectionPolicy):
    """Learn from every sample with its given label."""

    may_select_nothing = False

    def select(self, batch: Batch) -> Selection:
        """Return the whole batch."""
        return Selection()


class LearnFromSubset(SelectionPolicy):
    """Learn from a set of samples that does not change in the course of a stage.

    Parameters
    ----------
    is_learned : Tensor of shape (n_samples,), dtype=bool
        The samples to learn from.
    """

    def __init__(self, is_learned: Tensor) -> None:
        self.is_learned = is_learned

    def select(self, batch: Batch) -> Selection:
        """Return the samples of the batch that are in the set."""
        is_learned = self.is_learned.index_select(0, batch.index)
        return Selection(weights=is_learned.to(batch.losses.dtype).unsqueeze(0))


class RunningFraction:
    """Fraction of the visited samples for which a condition holds.

    It is counted on the device and transferred once per epoch.
    """

    def __init__(self) -> None:
        self._n_true: Tensor | int = 0
        self._n_visited = 0

    def add(self, is_true: Tensor) -> None:
        """Count the samples of a batch."""
        self._n_true = self._n_true + is_true.sum()
        self._n_visited += len(is_true)

    def take(self) -> float:
        """Return the fraction so far, and reset the counts."""
        fraction = float(self._n_true) / max(1, self._n_visited)
        self._n_true = self._n_visited = 0
        return fraction


class CorrectingPolicy(SelectionPolicy):
    """A policy that replaces some labels, and counts how many."""

    def __init__(self) -> None:
        self._corrected = RunningFraction()

    def count_corrected(self, is_corrected: Tensor) -> None:
        """Count the samples of a batch that are learned with a corrected label."""
        self._corrected.add(is_corrected)

    def epoch_summary(self) -> dict[str, float]:
        """Return the fraction of samples learned with a corrected label."""
        return {"corrected_fraction": self._corrected.take()}
