"""Curves of the probability of an error, each with a probability of its own."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, ndtr

Floats = NDArray[np.float64]

#: What lies outside of an interval, on either side.
_TAIL = 0.05
#: Fraction of checks that may be mistaken, and how much the checks count: the curve is
#: not exactly logistic, so intervals would be too narrow if they counted fully.
MISTAKES, TRUST = 0.01, 0.6
STEPS_OF_BISECTION = 45


@dataclass(frozen=True)
class Curves:
    """Logistic curves, each with a probability.

    Parameters
    ----------
    level, slope : ndarray of shape (n_curves,)
        Of the log-odds of an error, as a function of the score of a label. A level of
        minus infinity means that no label is wrong.
    weight : ndarray of shape (n_curves,)
        Probability of each curve.
    """

    level: Floats
    slope: Floats
    weight: Floats

    def probabilities(self, scores: Floats) -> Floats:
        """Return the probability of an error, of shape (n_curves, n_scores)."""
        return expit(self.level[:, None] + self.slope[:, None] * scores)

    def after_checks(self, scores: Floats, is_wrong: NDArray[np.bool_]) -> "Curves":
        """Return the same curves with the probabilities that checked labels give them.

        Parameters
        ----------
        scores, is_wrong : ndarray of shape (n_checked,)
            Scores of the labels that were checked, and what was found.
        """
        p = MISTAKES + (1 - 2 * MISTAKES) * self.probabilities(scores)
        likelihood = np.log(np.where(is_wrong, p, 1 - p)).sum(axis=1)
        logs = np.log(np.maximum(self.weight, 1e-300)) + TRUST * likelihood
        weight = np.exp(logs - logs.max())
        return Curves(self.level, self.slope, weight / weight.sum())

    def count(self, sums: Floats, variances: Floats) -> tuple[Floats, Floats, Floats]:
        """Return expected number, low and high end of numbers of wrong labels.

        Parameters
        ----------
        sums, variances : ndarray of shape (n_curves, n_numbers)
            Mean and variance of the numbers under each curve.
        """
        expected = self.weight @ sums
        deviations = np.sqrt(variances) + 1e-6
        ends = [
            _quantile(sums, deviations, self.weight, tail)
            for tail in (_TAIL, 1 - _TAIL)
        ]
        return expected, ends[0], ends[1]


def _quantile(means: Floats, deviations: Floats, weight: Floats, tail: float) -> Floats:
    """Return a quantile of mixtures of normal distributions, by bisection."""
    low = (means - 5 * deviations).min(axis=0)
    high = (means + 5 * deviations).max(axis=0)
    for _ in range(STEPS_OF_BISECTION):
        middle = (low + high) / 2
        is_below = weight @ ndtr((middle - means) / deviations) < tail
        low, high = np.where(is_below, middle, low), np.where(is_below, high, middle)
    return (low + high) / 2
