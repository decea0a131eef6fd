"""Labels that are wrong on purpose, and how well they are told from the given ones.

A label k that differs from the given one is planted on a sample and scored like the
given label. Planted labels are as wrong as they look, so where they stand among the
given ones tells how steeply the probability of an error falls with the rank, and
whether the probabilities show errors at all. Nothing is trained for it.

Every other class of every sample is planted, weighted by how likely it is a mistake for
the true class, which is exact and needs no random draws. Torch is not imported.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import isotonic_regression, minimize
from scipy.special import logit, logsumexp, ndtri
from scipy.stats import rankdata

from skpresto._labels import Codes

Floats = NDArray[np.float64]

# Probabilities and scores that are computed at a time.
_VALUES_AT_ONCE = 1 << 20
# Labels that are planted at most; of more, those of every second, third ... sample.
_MOST_PLANTED = 1 << 23
# Bins of equally many ranks, in which planted labels are counted.
_MOST_BINS = 1000
# Powers that are tried, from 1/4 to 8.
_POWERS = 2.0 ** (np.arange(-8, 13) / 4)
# So that no logarithm is infinite.
_TINY = 1e-30
# Fractions are kept off 0 and 1, whose log-odds are infinite.
_SMALLEST, _LARGEST = 0.002, 0.98
# Pulls the slope towards 1 where next to nothing is known.
_RIDGE = 1e-3


class PlantedErrors(NamedTuple):
    """What planted labels tell about the errors among the given ones.

    Parameters
    ----------
    mean_error : float
        Mean probability that a given label is wrong, by Bayes' rule.
    slope : float
        Logarithm of the slope with which the log-odds of an error grow with the normal
        score of the rank, if real errors stand where planted ones do.
    auc : float
        Probability that a label planted by the transition matrix alone, as errors that
        do not depend on the sample are, scores as more wrong than a given one.
    sharpness : float
        The power of the probabilities under which the given labels are most likely
        (:func:`sharpness`). Wrong labels lower it: even of clear samples, they are not
        predicted.
    """

    mean_error: float
    slope: float
    auc: float
    sharpness: float = 1.0


def planted_errors(
    probability: NDArray[Any],
    transitions: NDArray[Any],
    labels: Codes,
    sharpness: float = 1.0,
) -> PlantedErrors:
    """Plant wrong labels, and compare them with the given ones.

    Parameters
    ----------
    probability : ndarray of shape (n_samples, n_classes)
        Probability of each class, up to a factor per row, not predicted by a model that
        was trained on the label.
    transitions : ndarray of shape (n_classes, n_classes)
        ``T[j, k]``, the probability that a sample of class j carries the label k.
    labels : ndarray of shape (n_samples,)
        Class numbers of the given labels.
    sharpness : float, default=1.0
        Passed on.
    """
    given = labels.astype(np.intp)
    scores = np.concatenate(
        [
            np.take_along_axis(odds, given[part][:, None], axis=1)[:, 0]
            for part, _, odds in _scored(probability, transitions)
        ]
    )
    place = (rankdata(scores) - 0.5) / len(scores)
    quality = 1 / (1 + np.exp(np.clip(scores, -700, 700)))
    n_bins = min(len(scores), _MOST_BINS)
    of_given = np.bincount(_bins(place, n_bins), minlength=n_bins)
    of_planted = np.zeros(n_bins)
    in_order, below, total = np.sort(scores), 0.0, 0.0
    step = 1 + scores.size * len(transitions) // _MOST_PLANTED
    for part, chances, odds in _scored(probability, transitions, step):
        weight = quality[part][:, None] * transitions[given[part]]
        np.put_along_axis(weight, given[part][:, None], 0.0, axis=1)
        ranks = [np.searchsorted(in_order, odds, side) for side in ("left", "right")]
        places = (ranks[0] + ranks[1]) / (2 * len(scores))
        below += float((weight * places).sum())
        total += float(weight.sum())
        of_planted += np.bincount(
            _bins(places, n_bins).ravel(), (weight * chances).ravel(), n_bins
        )
    mean_error = float(1 - quality.mean())
    slope = _slope(of_given, of_planted, mean_error)
    return PlantedErrors(mean_error, slope, below / max(total, _TINY), sharpness)


def _scored(
    probability: NDArray[Any], transitions: NDArray[Any], step: int = 1
) -> Iterator[tuple[slice, Floats, Floats]]:
    """Yield blocks of rows, their probabilities, and log-odds that labels are wrong.

    The log-odds are those of each class, if it were the label.
    """
    n_samples, n_classes = probability.shape
    others = transitions.astype(np.float64)
    own = np.diag(others).copy()
    np.fill_diagonal(others, 0.0)
    at_once = step * max(1, _VALUES_AT_ONCE // n_classes)
    for start in range(0, n_samples, at_once):
        part = slice(start, min(start + at_once, n_samples), step)
        chances = np.maximum(probability[part].astype(np.float64), _TINY)
        chances /= chances.sum(axis=1, keepdims=True)
        yield part, chances, np.log(chances @ others) - np.log(chances * own)


def _bins(place: Floats, n_bins: int) -> NDArray[np.intp]:
    return np.minimum((place * n_bins).astype(np.intp), n_bins - 1)


def _slope(of_given: NDArray[Any], of_planted: Floats, mean_error: float) -> float:
    """Return the logarithm of the slope of a logistic curve through the planted labels.

    The curve goes through what the fraction of errors would be in each bin, if
    ``mean_error`` of all labels were wrong and stood where planted labels do. That the
    fraction grows with the rank is known, so it is made to (isotonic regression).
    """
    is_used = of_given > 0
    weight = of_given[is_used] / of_given.sum()
    planted = of_planted[is_used] / max(of_planted.sum(), _TINY)
    share = isotonic_regression(
        planted / (weight + planted), weights=weight + planted
    ).x.clip(1e-6, 1 - 1e-4)
    fraction = np.clip(mean_error * share / (1 - share), 0, _LARGEST)
    score = ndtri(np.cumsum(weight) - weight / 2)

    def loss(theta: Floats) -> float:
        odds = theta[0] + np.exp(theta[1]) * score
        fit = weight @ (np.logaddexp(0, odds) - fraction * odds)
        return float(fit + _RIDGE * theta[1] ** 2)

    level = logit(np.clip(weight @ fraction, _SMALLEST, 1 - _SMALLEST))
    return float(minimize(loss, [level, 0.0]).x[1])


def sharpness(probability: NDArray[Any], labels: Codes) -> float:
    """Return the power of the probabilities that fits the given labels best.

    It is above 1 if the labels are predicted better than the probabilities say, and
    below 1 for overconfident probabilities.

    Parameters
    ----------
    probability : ndarray of shape (n_samples, n_classes)
        Probabilities without zeros.
    labels : ndarray of shape (n_samples,)
        Class numbers of the given labels.

    Examples
    --------
    >>> p = np.array([[0.9, 0.1]] * 10)
    >>> round(sharpness(p, np.array([0] * 7 + [1] * 3)), 3)
    0.354
    """
    n_samples, n_classes = probability.shape
    likelihoods = np.zeros(len(_POWERS))
    at_once = max(1, _VALUES_AT_ONCE // n_classes)
    for start in range(0, n_samples, at_once):
        part = slice(start, start + at_once)
        logs = np.log(np.maximum(probability[part].astype(np.float64), _TINY))
        own = np.take_along_axis(logs, labels[part, None].astype(np.intp), axis=1)
        for row, power in enumerate(_POWERS):
            others = logsumexp(power * logs, axis=1)
            likelihoods[row] += power * own.sum() - others.sum()
    return float(_POWERS[likelihoods.argmax()])
