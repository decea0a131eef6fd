"""Stop rules for a known noise rate or known true labels."""

from abc import abstractmethod
from collections.abc import Sequence
from numbers import Real

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
