"""The stop rule interface, and the epoch records that rules read."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator


@dataclass(frozen=True)
class EpochRecord:
    """Measurements of one training epoch.

    All fractions and the training error are computed from the predictions of the
    training forward passes. The errors on validation and held-out rows are computed at
    the end of the epoch, in evaluation mode. A list of records can be passed to
    ``pandas.DataFrame`` as it is.

    With ``sample_weight`` or ``class_weight``, the loss, fractions and errors are
    weighted, except ``valid_error``, since validation rows have no weights, and
    ``selected_fraction``, ``corrected_fraction`` and ``disagreement_fraction``, which
    count samples. Samples of weight 0 are not visited.

    Parameters
    ----------
    epoch : int
        Number of the epoch. Each stage counts from 1, except that ``"phase 2"``
        continues the count from the stop point, as do the other second phases from
        the end of their first phase. The same epoch number can therefore occur in
        several stages.
    stage : str
        Part of the training that the epoch belongs to:

        - ``"train"``: the only stage of methods that train once, such as Default, and
          the first run of SELFIE;
        - ``"estimate"``: forward correction trains a network on all labels to estimate
          the transition matrix, and then discards it, before ``"train"``;
        - ``"restart 1"``, ``"restart 2"``, ...: further runs of SELFIE, each with a
          newly initialized network;
        - ``"phase 1"``: Prestopping and Prestopping+ train on all labels until the
          stop rule is settled, which is usually after the stop point;
        - ``"phase 2"``: they continue from the stop point, on the safe set only;
        - ``"search"``: CrossPrestopping with a stop rule trains one network on all
          labels to find the stop point, and then discards the network;
        - ``"cross-fit phase 1"``: the fold networks of CrossPrestopping train on all
          labels up to the stop point, or longer if they accept fewer than half of the
          labels there;
        - ``"cross-fit phase 2"``: the fold networks train on labels weighted by their
          posterior probability;
        - ``"last block"``, ``"last layer"``: PES trains the last layers anew, after
          some epochs on all labels (``"train"``);
        - ``"confident"``: it learns the samples whose label is predicted;
        - ``"round 0"``: ITLM trains on all labels for a few epochs;
        - ``"round 1"``, ``"round 2"``, ...: it trains a new network on the samples
          with the smallest losses in the round before;
        - ``"round 1 half 1"``, ``"round 1 half 2"``, ``"round 2 half 1"``, ...: INCV
          trains a new network on one half of the samples, and on those selected so
          far, to select samples of the other half;
        - ``"final"``: a new network of Prestopping+ trains on the safe set and on
          corrected labels; the final networks of CrossPrestopping train on accepted
          and corrected labels, those of INCV on selected samples, and that of ITLM on
          the smallest losses of its last round;
        - ``"fallback phase 1"``, ``"fallback phase 2"``: the two phases of
          Prestopping with an ensemble, in which CrossPrestopping trains instead of
          ``"final"`` if its fold networks accept fewer than half of the labels;
        - ``"noise rate phase 1"``, ``"noise rate phase 2"``: the two phases of
          Prestopping, from which Co-teaching, Co-teaching+, SELFIE and ITLM estimate
          the noise rate if it is not given.
    train_loss : float
        Mean loss of the samples trained on, averaged over the networks if there are
        several.
    train_error : float
        Fraction of the visited samples whose predicted class differs from their given
        label.
    memorized_fraction : float
        Fraction of the visited samples whose given label is the class predicted most
        often in their last ``q`` visits. In the cross-fit stages, the fraction whose
        given label is accepted.
    changed_fraction : float
        Fraction of the visited samples whose predicted class differs from that of
        their previous visit (1.0 in the first epoch).
    valid_error, n_valid : float and int, or None
        Error on the validation data passed to ``fit``, and number of validation rows.
    holdout_error, n_holdout : float and int, or None
        Error on the noisy rows held out for the stop rule, and number of these rows.
    memorization_precision, memorization_recall : float or None
        Fraction of the memorized samples that are labeled correctly, and fraction of
        the correctly labeled samples that are memorized. Recorded if ``y_true`` is
        passed to ``fit``.
    selected_fraction : float or None
        Fraction of the visited samples that were trained on.
    corrected_fraction : float or None
        Fraction of the visited samples that were trained on with a corrected label.
    disagreement_fraction : float or None
        Fraction of the visited samples for which two networks predict different
        classes.
    dimensionality : float or None
        Mean local intrinsic dimensionality of the activations before the last layer
        after the epoch, recorded by D2L.
    estimated_noise_rate : float or None
        Fraction of wrong labels, estimated after the epoch from the losses of the
        samples visited, which are not weighted; for MORPH and
        :class:`LossMixtureStop`.
    n_skipped_batches : int
        Number of batches in which no sample was selected, so that no update was made.
    learning_rate : float or None
        Learning rate at the beginning of the epoch.
    seconds : float or None
        Duration of the epoch, including evaluation.
    phase : {1, 2} or None
        1 where networks learn all labels and the end of that is searched, 2 where they
        learn selected ones; None for other stages, and for networks that are trained
        for an estimate of the noise rate only.
    n_networks : int
        Number of networks trained side by side.
    """

    epoch: int
    stage: str
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
    dimensionality: float | None = None
    estimated_noise_rate: float | None = None
    n_skipped_batches: int = 0
    learning_rate: float | None = None
    seconds: float | None = None
    phase: int | None = None
    n_networks: int = 1


class StopRule(BaseEstimator, ABC):
    """Base class of the rules that choose the stop point of phase I.

    A rule has parameters only and no state. Its methods are pure functions of the
    records of all epochs so far, so that a rule can be cloned, used in a grid search
    and called any number of times. It has no access to the network or the data.

    The candidate of a rule may be an epoch before the current one, but it must never
    move backwards as records are added, because checkpoints of epochs before the
    candidate are deleted.

    Examples
    --------
    A custom rule that stops when the training loss has fallen to half of its first
    value:

    >>> from skpresto.stopping import StopRule
    >>> class HalvedLossStop(StopRule):
    ...     def __init__(self, fraction=0.5):
    ...         self.fraction = fraction
    ...
    ...     def candidate(self, records):
    ...         threshold = self.fraction * records[0].train_loss
    ...         below = [i for i, r in enumerate(records) if r.train_loss <= threshold]
    ...         return below[0] if below else len(records) - 1
    ...
    ...     def is_settled(self, records):
    ...         return records[-1].train_loss <= self.fraction * records[0].train_loss
    >>> HalvedLossStop(fraction=0.4)
    HalvedLossStop(fraction=0.4)
    """

    #: Constraints for scikit-learn's parameter validation; optional in custom rules.
    _parameter_constraints: dict = {}

    #: Names of the optional arguments of ``fit`` that the rule requires.
    needs: frozenset[str] = frozenset()

    #: Fraction of the training rows to hold out of phase I. Phase II trains on them.
    holdout_fraction: float = 0.0

    #: Whether it reads ``estimated_noise_rate``, which is computed for such rules only.
    reads_noise_rate: bool = False

    @abstractmethod
    def candidate(self, records: Sequence[EpochRecord]) -> int:
        """Return the position in ``records`` of the best stop point so far."""

    @abstractmethod
    def is_settled(self, records: Sequence[EpochRecord]) -> bool:
        """Return whether phase I can end, with the candidate as its stop point."""

    def contenders(self, records: Sequence[EpochRecord]) -> Sequence[int]:
        """Return the positions that are, or may still become, the candidate.

        Checkpoints are kept of these epochs only. The default is every epoch from the
        candidate on.
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
    """Return the first True position, or the last position if there is none."""
    return int(reached.argmax()) if reached.any() else len(reached) - 1
