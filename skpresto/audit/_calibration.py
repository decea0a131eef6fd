"""From label quality to numbers of wrong labels, with intervals."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

Floats = NDArray[np.float64]

# Quantile of the normal distribution: 90 % lie between -1.645 and 1.645.
_Z = 1.645


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
class CalibrationSettings:
    """How log-odds of label quality relate to log-odds of errors.

    The constants were fitted to data sets with known errors, see
    ``benchmarks/audit``. They differ by what the quality was computed from.

    Parameters
    ----------
    slope : float
        Factor of the log-odds; below 1, since qualities are overconfident.
    shift : float
        Added to the log-odds.
    gap_weight : float
        Weight of the difference between the log-odds of held-out disagreement and of
        the mean error probability, which is large where labels were memorized.
    max_log_odds : float
        Log-odds of the quality beyond this value count as this value.
    spread_low, spread_high : float
        How far the log-odds of a whole data set may lie below and above.
    class_spread : float
        The same for a single class, in addition.
    """

    slope: float
    shift: float
    gap_weight: float
    max_log_odds: float
    spread_low: float
    spread_high: float
    class_spread: float


#: For networks that were trained on the labels that they assess.
IN_SAMPLE = CalibrationSettings(0.6, 0.3, 0.3, 8.0, 1.0, 1.0, 0.5)
#: For out-of-fold probabilities.
OUT_OF_FOLD = CalibrationSettings(0.5, 0.0, 0.0, 8.0, 1.0, 1.0, 0.5)


@dataclass(frozen=True)
class Evidence:
    """What is known about the labels beside their quality.

    Parameters
    ----------
    settings : CalibrationSettings
        By what the quality was computed from.
    held_out_disagreement : float or None
        Fraction of held-out samples whose given label was not predicted.
    """

    settings: CalibrationSettings
    held_out_disagreement: float | None = None


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
    def log_odds(self) -> Floats:
        """Calibrated log-odds that each label is wrong."""
        settings = self.evidence.settings
        bound = settings.max_log_odds
        with np.errstate(divide="ignore"):
            raw = np.clip(-logit(self.quality), -bound, bound)
        return settings.slope * raw + settings.shift + settings.gap_weight * self._gap()

    def _gap(self) -> float:
        """Return how much larger the held-out disagreement is, in log-odds."""
        disagreement = self.evidence.held_out_disagreement
        if disagreement is None or not len(self.quality):
            return 0.0
        mean = 1 - self.quality.mean()
        pair = np.clip([disagreement, mean], 0.001, 0.999)
        return float(max(0.0, logit(pair[0]) - logit(pair[1])))

    @cached_property
    def error_probability(self) -> Floats:
        """Calibrated probability that each label is wrong."""
        return expit(self.log_odds)

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

        The interval combines two deviations as independent ones: that of the log-odds
        of the whole data set, and that of counts of independent errors.
        """
        settings = self.evidence.settings
        extra = settings.class_spread if is_class else 0.0
        log_odds = self.log_odds[order]
        probability = expit(log_odds)
        expected = _sums(probability)
        numbers = np.arange(len(expected))
        by_chance = _Z * np.sqrt(_sums(probability * (1 - probability)))
        ends = []
        for sign, spread in ((-1, settings.spread_low), (1, settings.spread_high)):
            shifted = _sums(expit(log_odds + sign * np.hypot(spread, extra)))
            end = expected + sign * np.hypot(shifted - expected, by_chance)
            rounded = np.floor(end) if sign < 0 else np.ceil(end)
            # One more label can only add errors.
            ends.append(np.maximum.accumulate(np.clip(rounded, 0, numbers)))
        return expected, ends[0], ends[1]


def _sums(values: Floats) -> Floats:
    """Return the sums of the first 0, 1, 2, ... values."""
    return np.concatenate([[0.0], np.cumsum(values)])
