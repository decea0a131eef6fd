"""From label quality to numbers of wrong labels, with intervals.

The quality ranks labels well, but how large it is depends on the training as much as on
the labels. Only its ranks are used: the probability of an error falls with the rank
along a logistic curve. Its level is the noise rate, and its steepness tells how well
errors and correct labels are separated. Neither is known. What is seen without correct
labels predicts them, and constants that were fitted to data sets with known errors say
how well: so there are many curves, each with a probability. There may also be no
wrong label at all, which has a probability of its own. An interval holds 90 % of what
the curves say.

Labels that a person has checked make curves likelier that give these answers a high
probability. That narrows the intervals much, since the noise rate can hardly be seen
from predictions alone.
"""

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit, ndtri
from scipy.stats import rankdata

from skpresto.audit._curves import STEPS_OF_BISECTION, Curves
from skpresto.audit._evidence import Evidence

Floats = NDArray[np.float64]

#: Standard deviations by which rate and slope of a curve differ from the prediction.
_RATES, _SLOPES = np.linspace(-2.6, 2.6, 15), np.linspace(-2.2, 2.2, 11)
#: Those by which a class differs from others, and their weights.
_CLASS_STEPS, _CLASS_WEIGHTS = np.array([-(3**0.5), 0, 3**0.5]), np.array([1, 4, 1]) / 6
#: So many labels of the lowest quality have a probability of their own; others, and
#: numbers of labels, are joined to bins that grow.
_FINE, _MOST_BINS, _MOST_NUMBERS = 200, 1000, 300


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


class ErrorCalibration:
    """Estimate numbers of wrong labels from label quality.

    Parameters
    ----------
    quality : ndarray of shape (n_samples,)
        Label quality.
    evidence : Evidence
        What is known beside it.
    checked : tuple of ndarray, default=None
        Positions of labels that a person checked, and whether each is wrong.
    """

    def __init__(
        self,
        quality: Floats,
        evidence: Evidence,
        checked: tuple[NDArray[np.intp], NDArray[np.bool_]] | None = None,
    ) -> None:
        self.quality = quality
        self.evidence = evidence
        self.checked = checked

    @cached_property
    def scores(self) -> Floats:
        """Normal scores of the ranks, highest for the lowest quality."""
        scores: Floats = -ndtri((rankdata(self.quality) - 0.5) / len(self.quality))
        return scores

    @cached_property
    def _bin_of(self) -> NDArray[np.intp]:
        """Bin of each label; labels of equal quality are in one."""
        edges = _growing(len(self.quality), _MOST_BINS)
        found = np.searchsorted(edges, rankdata(self.quality), side="left")
        return np.unique(found, return_inverse=True)[1]

    @cached_property
    def _bins(self) -> tuple[Floats, Floats]:
        """Mean score of the labels in each bin, and their number."""
        counts = np.bincount(self._bin_of)
        return np.bincount(self._bin_of, self.scores) / counts, counts.astype(float)

    @cached_property
    def prior(self) -> Curves:
        """The curves before anything is checked."""
        evidence = self.evidence
        rates = evidence.rate + evidence.constants.rate_spread * _RATES
        slopes = evidence.slope + evidence.constants.slope_spread * _SLOPES
        rate, slope = (values.ravel() for values in np.meshgrid(rates, slopes))
        normal = np.exp(-0.5 * (_RATES**2 + _SLOPES[:, None] ** 2)).ravel()
        slope = np.exp(slope)
        level = self._levels(expit(rate), slope)
        clean = evidence.clean
        return Curves(
            np.append(level, -np.inf),
            np.append(slope, 1.0),
            np.append((1 - clean) * normal / normal.sum(), clean),
        )

    def _levels(self, rate: Floats, slope: Floats) -> Floats:
        """Return the levels at which the mean of each curve is its noise rate."""
        scores, counts = self._bins
        steep = slope[:, None] * scores
        reach = np.abs(steep).max(axis=1) + 20.0
        low, high = -reach, reach
        for _ in range(STEPS_OF_BISECTION):
            level = (low + high) / 2
            is_below = expit(level[:, None] + steep) @ counts < rate * counts.sum()
            low, high = np.where(is_below, level, low), np.where(is_below, high, level)
        return (low + high) / 2

    @cached_property
    def curves(self) -> Curves:
        """The curves with all that is known."""
        if self.checked is None or not self.n_checked:
            return self.prior
        rows, is_wrong = self.checked
        return self.prior.after_checks(self.scores[rows], is_wrong)

    @cached_property
    def _probabilities(self) -> Floats:
        return self.curves.probabilities(self._bins[0])

    @cached_property
    def error_probability(self) -> Floats:
        """Calibrated probability that each label is wrong."""
        probability: Floats = (self.curves.weight @ self._probabilities)[self._bin_of]
        return probability

    @property
    def n_checked(self) -> int:
        """Number of labels that were checked."""
        return 0 if self.checked is None else len(self.checked[0])

    @property
    def is_known(self) -> bool:
        """Whether there is evidence for a lower limit of the number of errors."""
        return self.evidence.tells_errors or self.n_checked >= ENOUGH_CHECKS

    def moments(
        self, counts: Floats, curves: Curves | None = None
    ) -> tuple[Floats, Floats]:
        """Return means and variances of numbers of wrong labels under each curve.

        Parameters
        ----------
        counts : ndarray of shape (n_numbers, n_bins)
            How many labels of each bin a number is about.
        curves : Curves, default=None
            None means those with all that is known.
        """
        p = self._probabilities
        if curves is not None:
            p = curves.probabilities(self._bins[0])
        return p @ counts.T, (p * (1 - p)) @ counts.T

    def counts_in_bins(self, chosen: Any) -> Floats:
        """Return how many of the chosen labels are in each bin."""
        n_bins = len(self._bins[0])
        return np.bincount(self._bin_of[chosen], minlength=n_bins).astype(float)

    def total(self, chosen: Any = slice(None), is_class: bool = False) -> ErrorEstimate:
        """Return how many of the chosen labels are wrong.

        Parameters
        ----------
        chosen : mask, positions or slice
            The labels.
        is_class : bool, default=False
            Whether they belong to one class, so that the interval must be wider.
        """
        counts = self.counts_in_bins(chosen)
        expected, low, high = self._rounded(
            *self.curves.count(*self.moments(counts[None])), counts.sum()
        )
        if is_class:
            _, *ends = self._rounded(*self._of_class(counts), counts.sum())
            low, high = np.minimum(low, ends[0]), np.maximum(high, ends[1])
        return ErrorEstimate(float(expected[0]), float(low[0]), float(high[0]))

    def _of_class(self, counts: Floats) -> tuple[Floats, Floats, Floats]:
        """Return a count by curves of classes with less and more noise than others."""
        steps = self.evidence.constants.class_spread * _CLASS_STEPS
        log_odds = logit(np.clip(self._probabilities, 1e-300, 1 - 1e-12))
        p = expit(log_odds[:, None] + steps[:, None]).reshape(-1, len(counts))
        both = (self.curves.weight[:, None] * _CLASS_WEIGHTS).ravel()
        curves = Curves(both, both, both)
        return curves.count((p @ counts)[:, None], ((p * (1 - p)) @ counts)[:, None])

    def cumulative(self, order: NDArray[np.intp]) -> tuple[Floats, Floats, Floats]:
        """Return estimates, low and high ends for the first 0, 1, 2, ... labels."""
        numbers = np.concatenate([[0], _growing(len(order), _MOST_NUMBERS)])
        bins, n_bins = self._bin_of[order], len(self._bins[0])
        part = np.searchsorted(numbers, np.arange(len(order)), side="right") - 1
        cells = np.bincount(part * n_bins + bins, minlength=(len(numbers) - 1) * n_bins)
        counts = np.zeros((len(numbers), n_bins))
        counts[1:] = np.cumsum(cells.reshape(-1, n_bins), axis=0)
        found = self.curves.count(*self.moments(counts))
        everywhere = np.arange(len(order) + 1)
        expected, low, high = (np.interp(everywhere, numbers, v) for v in found)
        return self._rounded(expected, low, high, everywhere)

    def _rounded(
        self, expected: Floats, low: Floats, high: Floats, numbers: Any
    ) -> tuple[Floats, Floats, Floats]:
        """Return intervals that end at whole numbers of errors that are possible."""
        low = np.floor(np.minimum(low, expected)).clip(0)
        high = np.ceil(np.maximum(high, expected)).clip(0)
        high = np.minimum(high, numbers)
        if not self.is_known:
            low = np.zeros_like(low)
        # One more label can only add errors.
        return expected, np.maximum.accumulate(low), np.maximum.accumulate(high)


#: From so many checked labels on they tell more than predictions do.
ENOUGH_CHECKS = 30


def _growing(n: int, most: int) -> NDArray[np.intp]:
    """Return increasing whole numbers up to n: all, or the first and ever fewer.

    Examples
    --------
    >>> _growing(5, 300).tolist(), len(_growing(10**6, 300)) <= 300
    ([1, 2, 3, 4, 5], True)
    """
    if n <= most:
        return np.arange(1, n + 1)
    fine = min(_FINE, most // 2)
    further = np.geomspace(fine, n, most - fine + 1).round().astype(np.intp)
    return np.unique(np.concatenate([np.arange(1, fine + 1), further]))
