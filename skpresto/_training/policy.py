"""Policies: what a mini-batch learns from."""

from abc import ABC, abstractmethod

from skpresto._training.batch import Batch, Selection


class SelectionPolicy(ABC):
    """Say, for each mini-batch, which samples are learnt from, and as what.

    A policy is made in ``fit`` and lives as long as the phase it serves. What it keeps
    per sample sits on the device of the network.
    """

    #: Whether a network may be left with nothing to learn from a batch.
    may_select_nothing = True

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
