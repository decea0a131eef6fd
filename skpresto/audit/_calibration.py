"""From label quality to numbers of wrong labels, with intervals.

The quality ranks labels well, but how large it is depends on the training as much as on
the labels. Only its ranks are used: the probability of an error falls with the rank
along a logistic curve. Its level is an estimate of the noise rate, and its steepness
tells how well errors and correct labels are separated. Both are predicted from what is
known without correct labels, by constants that were fitted to data sets with known
errors; how far such predictions missed on data sets that were left out of the fit makes
the intervals.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import expit, logit, ndtri
from scipy.stats import rankdata

from skpresto.audit._constants import CalibrationConstants

Floats = NDArray[np.float64]

# Quantile of the normal distribution: 90 % lie between -1.645 and 1.645.
_Z = 1.645
# Fractions are kept off 0 and 1, whose log-odds are infinite.
_SMALLEST = 0.002
# Gap between rejected and held-out labels, in log-odds, where nothing was held out.
_TYPICAL_GAP = 0.4


class ErrorEstimate(NamedTuple):
    """How many labels are wrong, or which fraction, with a 90 % interval.

    Parameters
    ----------
    expected : float
        The estimate.
    low, high : float
        Ends of the interval.
    """

    expected: float
    low: float
    high: float

    def __truediv__(self, n_labels: float) -> "ErrorEstimate":
        """Return the estimate of a count as a fraction of ``n_labels``."""
        return ErrorEstimate(*(float(v) / n_labels if n_labels else 0.0 for v in self))


@dataclass(frozen=True)
class Evidence:
    """What is known about the labels beside the order of their quality.

    Parameters
    ----------
    constants : CalibrationConstants
        By what the quality was computed from.
    n_classes : int
        Number of classes.
    rejected_fraction : float
        Fraction of labels that the method does not accept.
    disagreement : float or None
        Fraction of given labels that were not predicted for samples that the network
        was not trained on.
    """

    constants: CalibrationConstants
    n_classes: int
    rejected_fraction: float
    disagreement: float | None = None

    @property
    def gap(self) -> float:
        """Log-odds of held-out disagreement minus those of rejection, at least 0.

        It is large where a network memorized labels, so that it rejects few of them.
        """
        if self.disagreement is None:
            return _TYPICAL_GAP
        gap = _log_odds(self.disagreement) - _log_odds(self.rejected_fraction)
        return max(0.0, gap)

    @property
    def disagreement_log_odds(self) -> float:
        """Log-odds of held-out disagreement, guessed where it is not known."""
        if self.disagreement is None:
            return _log_odds(self.rejected_fraction) + _TYPICAL_GAP
        return _log_odds(self.disagreement)


def _log_odds(fraction: float) -> float:
    return float(logit(np.clip(fraction, _SMALLEST, 1 - _SMALLEST)))


class ErrorCalibration:
    """Estimate numbers of wrong labels from label quality.

    Parameters
    ----------
    quality : ndarray of shape (n_samples,)
        Label quality.
    evidence : Evidence
        What is known beside it.
    """

    def __init__(self, quality: Floats, evidence: Evidence) -> None:
        self.quality = quality
        self.evidence = evidence

    @cached_property
    def _scores(self) -> Floats:
        """Normal scores of the ranks, highest for the lowest quality."""
        scores: Floats = -ndtri((rankdata(self.quality) - 0.5) / len(self.quality))
        return scores

    @cached_property
    def error_probability(self) -> Floats:
        """Calibrated probability that each label is wrong."""
        return self._curve()

    def _curve(self, rate_shift: float = 0.0, slope_shift: float = 0.0) -> Floats:
        """Return probabilities of error whose mean is the estimated noise rate.

        Parameters
        ----------
        rate_shift : float, default=0.0
            Added to the log-odds of the noise rate.
        slope_shift : float, default=0.0
            Added to the logarithm of the slope.
        """
        evidence, constants = self.evidence, self.evidence.constants
        mean_error = _log_odds(1 - float(self.quality.mean()))
        inputs = 1.0, mean_error, evidence.disagreement_log_odds
        rate = expit(np.dot(constants.rate, inputs) + rate_shift)
        inputs = 1.0, evidence.gap, float(np.log(evidence.n_classes))
        slope = np.exp(np.dot(constants.slope, inputs) + slope_shift)
        steep = slope * self._scores
        reach = float(np.abs(steep).max()) + 20.0
        level = brentq(lambda a: expit(a + steep).mean() - rate, -reach, reach)
        curve: Floats = expit(level + steep)
        return curve

    @cached_property
    def _scenarios(self) -> tuple[tuple[Floats, Floats], tuple[Floats, Floats]]:
        """Curves with a low and a high noise rate, and with a low and a high slope."""
        constants = self.evidence.constants
        at_zero, per_gap = constants.rate_spread
        rate = _Z * (at_zero + per_gap * self.evidence.gap)
        slope = _Z * constants.slope_spread
        return (
            (self._curve(rate_shift=-rate), self._curve(rate_shift=rate)),
            (self._curve(slope_shift=-slope), self._curve(slope_shift=slope)),
        )

    def total(self, chosen: Any = slice(None), is_class: bool = False) -> ErrorEstimate:
        """Return how many of the chosen labels are wrong.

        Parameters
        ----------
        chosen : mask, positions or slice
            The labels.
        is_class : bool, default=False
            Whether they belong to one class, so that the interval must be wider.
        """
        order = np.arange(len(self.quality))[chosen]
        expected, low, high = self.cumulative(order, is_class)
        return ErrorEstimate(float(expected[-1]), float(low[-1]), float(high[-1]))

    def cumulative(
        self, order: NDArray[np.intp], is_class: bool = False
    ) -> tuple[Floats, Floats, Floats]:
        """Return estimates, low and high ends for the first 0, 1, 2, ... labels.

        The deviations of noise rate, slope, class and chance are combined as
        independent ones.
        """
        probability = self.error_probability[order]
        expected = _sums(probability)
        variance = _Z**2 * _sums(probability * (1 - probability))
        below, above = variance.copy(), variance.copy()
        for pair in (*self._scenarios, *([self._of_class()] if is_class else [])):
            ends = np.sort([_sums(curve[order]) for curve in pair], axis=0)
            below += np.maximum(0, expected - ends[0]) ** 2
            above += np.maximum(0, ends[1] - expected) ** 2
        numbers = np.arange(len(expected))
        low = np.clip(np.floor(expected - np.sqrt(below)), 0, numbers)
        high = np.clip(np.ceil(expected + np.sqrt(above)), 0, numbers)
        # One more label can only add errors.
        return expected, np.maximum.accumulate(low), np.maximum.accumulate(high)

    def _of_class(self) -> tuple[Floats, Floats]:
        """Return curves of classes with less and with more noise than others."""
        log_odds = logit(np.clip(self.error_probability, 1e-12, 1 - 1e-12))
        spread = _Z * self.evidence.constants.class_spread
        return expit(log_odds - spread), expit(log_odds + spread)


def _sums(values: Floats) -> Floats:
    """Return the sums of the first 0, 1, 2, ... values."""
    return np.concatenate([[0.0], np.cumsum(values)])
