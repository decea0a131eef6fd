"""Policies: what a mini-batch learns from."""

from abc import ABC, abstractmethod
from typing import Any

from torch import Tensor

from skpresto._training.batch import Batch, Selection


class SelectionPolicy(ABC):
    """Say, for each mini-batch, which samples are learnt from, and as what.

    A policy is made in ``fit`` and lives as long as the phase it serves. What it keeps
    per sample sits on the device of the network.
    """

    #: Whether a network may be left with nothing to learn from a batch.
    may_select_nothing = True
    #: Says which labels are trusted, by ``agrees(labels)``; None is the plain vote.
    vote: Any = None

    @abstractmethod
    def select(self, batch: Batch) -> Selection:
        """Return what each network learns from the batch."""

    def epoch_summary(self) -> dict[str, float]:
        """Return further fields for the record of the epoch that just ended."""
        return {}


class LearnFromAll(SelectionPolicy):
    """Learn from every sample under its given label."""

    may_select_nothing = False

    def select(self, batch: Batch) -> Selection:
        """Return the whole batch."""
        return Selection()


class RunningShare:
    """Share of the samples visited for which something is true.

    It is counted on the device, and fetched once an epoch.
    """

    def __init__(self) -> None:
        self._n_true: Tensor | int = 0
        self._n_visited = 0

    def add(self, is_true: Tensor) -> None:
        """Count the samples of a batch."""
        self._n_true = self._n_true + is_true.sum()
        self._n_visited += len(is_true)

    def take(self) -> float:
        """Return the share so far, and begin anew."""
        share = float(self._n_true) / max(1, self._n_visited)
        self._n_true = self._n_visited = 0
        return share


class CorrectingPolicy(SelectionPolicy):
    """A policy that lets samples be learnt under another label, and counts them."""

    def __init__(self) -> None:
        self._corrected = RunningShare()

    def count_corrected(self, is_corrected: Tensor) -> None:
        """Count the samples of a batch that are learnt under another label."""
        self._corrected.add(is_corrected)

    def epoch_summary(self) -> dict[str, float]:
        """Return which share was learnt from under another label."""
        return {"corrected_fraction": self._corrected.take()}
