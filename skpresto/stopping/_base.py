"""What a stop rule is, and what it may look at."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator


@dataclass(frozen=True)
class EpochRecord:
    """What one epoch of training left behind.

    Everything is measured on the predictions of the training forward passes, except
    the errors on validation and held-out rows, which are measured at the end of the
    epoch in evaluation mode. A list of records goes straight into a
    ``pandas.DataFrame``.

    Parameters
    ----------
    epoch : int
        Number of the epoch, from 1. An epoch of phase II continues the count from
        the stop point, so a number can occur once in each phase.
    phase : int
        1 while everything is learnt from, 2 after the stop point. Methods that begin
        anew with a fresh network count on: 3 in Prestopping+, 1 and up for the runs of
        SELFIE. In Prestopping+, phase 1 occurs twice: one network finds the stop point,
        then several networks train up to there or longer; phases 1 and 2 once more,
        and no phase 3, if these leave it to the vote.
    train_loss : float
        Mean loss of what was learnt from, of all networks where there are several.
    train_error : float
        Share of the samples visited whose predicted class was not their given label.
    memorized_fraction : float
        Share of the samples visited whose given label is the class predicted most
        often in their last ``q`` visits.
    changed_fraction : float
        Share of the samples visited whose predicted class differs from the one at
        their visit before (1.0 in the first epoch).
    valid_error, n_valid : float and int, or None
        Error on the validation data given to ``fit``, and their number.
    holdout_error, n_holdout : float and int, or None
        Error on the noisy rows that the rule held out, and their number.
    memorization_precision, memorization_recall : float or None
        Share of the memorized samples that are labelled correctly, and share of the
        correctly labelled samples that are memorized; known if ``fit`` got ``y_true``.
    selected_fraction : float or None
        Share of the samples visited that were learnt from.
    corrected_fraction : float or None
        Share of the samples visited that were learnt from under another label.
    disagreement_fraction : float or None
        Share of the samples visited on which two networks disagreed.
    n_skipped_batches : int
        Batches in which nothing was selected, so that nothing was learnt.
    learning_rate : float or None
        Learning rate at the beginning of the epoch.
    seconds : float or None
        Time the epoch took, evaluation included.
    """

    epoch: int
    phase: int
    train_loss: float
    train_error: float
    memorized_fraction: float
    changed_fraction: float
    valid_error: float | None = None
    n_valid: int | None = None
    holdout_error: float | None = None
    n_holdout: int | None = None
    memorization_precision: float | None = None
    memorization_recall: float | None = None
    selected_fraction: float | None = None
    corrected_fraction: float | None = None
    disagreement_fraction: float | None = None
    n_skipped_batches: int = 0
    learning_rate: float | None = None
    seconds: float | None = None


class StopRule(BaseEstimator, ABC):
    """Choose the epoch at which phase I should have stopped.

    A rule holds settings only. Its methods are pure functions of the records of the
    epochs seen so far, so a rule can be cloned, grid-searched, shared and asked twice.
    It sees neither the network nor the data.

    A rule's candidate may lie behind the present epoch, but must never move backwards
    as records are added: the Trainer drops the checkpoints of earlier epochs.

    Examples
    --------
    A rule of one's own: stop when the training loss has fallen by half.

    >>> from skpresto.stopping import StopRule
    >>> class HalvedLossStop(StopRule):
    ...     def __init__(self, share=0.5):
    ...         self.share = share
    ...
    ...     def candidate(self, records):
    ...         bar = self.share * records[0].train_loss
    ...         fallen = [e for e, r in enumerate(records) if r.train_loss <= bar]
    ...         return fallen[0] if fallen else len(records) - 1
    ...
    ...     def is_settled(self, records):
    ...         return records[-1].train_loss <= self.share * records[0].train_loss
    >>> HalvedLossStop(share=0.4)
    HalvedLossStop(share=0.4)
    """

    #: What scikit-learn checks the settings against; a user's rule may do without.
    _parameter_constraints: dict = {}

    #: Arguments of ``fit`` without which the rule cannot judge.
    needs: frozenset[str] = frozenset()

    #: Share of the training rows to hold out of phase I; they come back for phase II.
    holdout_fraction: float = 0.0

    @abstractmethod
    def candidate(self, records: Sequence[EpochRecord]) -> int:
        """Return the position in ``records`` of the best stop point so far."""

    @abstractmethod
    def is_settled(self, records: Sequence[EpochRecord]) -> bool:
        """Return whether there is no more point in waiting for a better stop point."""

    def contenders(self, records: Sequence[EpochRecord]) -> Sequence[int]:
        """Return the positions that are, or may still become, the candidate.

        The Trainer keeps a checkpoint of these and of no others. The default is
        everything from the candidate on.
        """
        return range(self.candidate(records), len(records))


def trailing_mean(values: ArrayLike, window: int) -> NDArray[np.float64]:
    """Return the mean of each value and up to ``window`` - 1 values before it.

    Examples
    --------
    >>> trailing_mean([4.0, 2.0, 0.0, 1.0], window=2).tolist()
    [4.0, 3.0, 1.0, 0.5]
    """
    array = np.asarray(values, dtype=np.float64)
    return np.array(
        [array[max(0, end - window) : end].mean() for end in range(1, len(array) + 1)]
    )


def first_or_last(reached: NDArray[np.bool_]) -> int:
    """Return the first position that is true, or the last one if none is."""
    return int(reached.argmax()) if reached.any() else len(reached) - 1
