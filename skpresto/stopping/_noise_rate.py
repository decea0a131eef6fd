"""Stop rules for a known or estimated noise rate, or known true labels."""

from abc import abstractmethod
from collections.abc import Sequence
from numbers import Integral, Real

import numpy as np
from numpy.typing import NDArray

from skpresto._sklearn import Interval
from skpresto.stopping._base import EpochRecord, StopRule, first_or_last


class _ThresholdStop(StopRule):
    """Stop at the first epoch that has reached a threshold."""

    @abstractmethod
    def _reached(self, records: Sequence[EpochRecord]) -> NDArray[np.bool_]:
        """Return for each epoch whether it has reached the threshold."""

    def candidate(self, records: Sequence[EpochRecord]) -> int:
        """Return the first epoch at the threshold, or the last if none is."""
        return first_or_last(self._reached(records))

    def is_settled(self, records: Sequence[EpochRecord]) -> bool:
        """Return whether the threshold is reached."""
        return bool(self._reached(records).any())

    def contenders(self, records: Sequence[EpochRecord]) -> Sequence[int]:
        """Return the candidate only, as no other epoch can become the candidate."""
        return [self.candidate(records)]


class NoiseRateStop(_ThresholdStop):
    """Stop when the training error has fallen to the noise rate.

    The second heuristic of the Prestopping paper (Algorithm 2): if all correct labels
    were learned before the first wrong one, the training error would equal the noise
    rate at that moment. If many correct labels are hard to learn, prefer
    :class:`MemorizedFractionStop`, or :class:`AgreementStop`, which needs no noise
    rate.

    Parameters
    ----------
    noise_rate : float in [0, 1)
        Fraction of wrong training labels.
    margin : float, default=0.0
        Added to the noise rate, so that phase I stops earlier, as the paper proposes.

    Examples
    --------
    >>> from skpresto import PrestoppingClassifier
    >>> from skpresto.stopping import NoiseRateStop
    >>> clf = PrestoppingClassifier(stop=NoiseRateStop(noise_rate=0.4))
    """

    _parameter_constraints = {
        "noise_rate": [Interval(Real, 0, 1, closed="left")],
        "margin": [Interval(Real, 0, 1, closed="left")],
    }

    def __init__(self, noise_rate: float, margin: float = 0.0):
        self.noise_rate = noise_rate
        self.margin = margin

    def _reached(self, records: Sequence[EpochRecord]) -> NDArray[np.bool_]:
        errors = np.array([record.train_error for record in records])
        return errors <= self.noise_rate + self.margin


class MemorizedFractionStop(_ThresholdStop):
    """Stop when the number of memorized labels equals the number of correct ones.

    Memorization precision and recall have the same numerator, so they are equal
    exactly when the number of memorized samples equals the number of correctly labeled
    samples. The ideal stop point of the Prestopping paper, at which the two cross, can
    therefore be found with the noise rate alone.

    Parameters
    ----------
    noise_rate : float in [0, 1)
        Fraction of wrong training labels.

    See Also
    --------
    LossMixtureStop : The same with a noise rate that is estimated.
    OracleStop : The same stop point, measured with true labels.

    Examples
    --------
    >>> from skpresto import PrestoppingClassifier
    >>> from skpresto.stopping import MemorizedFractionStop
    >>> clf = PrestoppingClassifier(stop=MemorizedFractionStop(noise_rate=0.4))
    """

    _parameter_constraints = {"noise_rate": [Interval(Real, 0, 1, closed="left")]}

    def __init__(self, noise_rate: float):
        self.noise_rate = noise_rate

    def _reached(self, records: Sequence[EpochRecord]) -> NDArray[np.bool_]:
        memorized = np.array([record.memorized_fraction for record in records])
        return memorized >= 1 - self.noise_rate


class LossMixtureStop(_ThresholdStop):
    """Stop when as many labels are memorized as an estimated noise rate leaves correct.

    The rule of MORPH [1]_: :class:`MemorizedFractionStop` with a noise rate that is
    estimated anew after each epoch. The losses of each sample are summed up over the
    epochs, two normal distributions are fitted to the sums, and the estimate is the
    mean probability of the one with the larger mean. It needs neither clean labels nor
    a noise rate, and holds out no rows. Where losses do not fall into two groups, as on
    clean labels or with samples that are hard to learn, the estimate is too high and
    the stop point early; prefer :class:`AgreementStop`.

    Parameters
    ----------
    min_epochs : int, default=3
        Earliest stop point; the paper has none. Before that, there are too few
        predictions for a majority vote: after one epoch, every label that was predicted
        counts as memorized.

    See Also
    --------
    skpresto.baselines.MorphClassifier : The method that it is part of.

    References
    ----------
    .. [1] H. Song, M. Kim, D. Park, Y. Shin, J.-G. Lee, "Robust learning by
       self-transition for handling noisy labels", KDD 2021.

    Examples
    --------
    >>> from skpresto import PrestoppingClassifier
    >>> from skpresto.stopping import LossMixtureStop
    >>> clf = PrestoppingClassifier(stop=LossMixtureStop())
    """

    _parameter_constraints = {
        "min_epochs": [Interval(Integral, 1, None, closed="left")]
    }
    reads_noise_rate = True

    def __init__(self, min_epochs: int = 3):
        self.min_epochs = min_epochs

    def _reached(self, records: Sequence[EpochRecord]) -> NDArray[np.bool_]:
        memorized = np.array([record.memorized_fraction for record in records])
        rates = [record.estimated_noise_rate for record in records]
        reached = memorized >= 1 - np.array(rates, dtype=np.float64)
        reached[: self.min_epochs - 1] = False
        return reached


class OracleStop(_ThresholdStop):
    """Stop where memorization precision and recall cross, measured with true labels.

    The ideal stop point of the Prestopping paper, for research. It requires the true
    labels: pass ``y_true`` to ``fit``.

    See Also
    --------
    MemorizedFractionStop : The same stop point, from the noise rate alone.

    Examples
    --------
    >>> from skpresto import PrestoppingClassifier
    >>> from skpresto.stopping import OracleStop
    >>> clf = PrestoppingClassifier(stop=OracleStop())
    """

    needs = frozenset({"y_true"})

    def _reached(self, records: Sequence[EpochRecord]) -> NDArray[np.bool_]:
        precision = np.array(
            [record.memorization_precision for record in records], dtype=np.float64
        )
        recall = np.array(
            [record.memorization_recall for record in records], dtype=np.float64
        )
        return recall >= precision
