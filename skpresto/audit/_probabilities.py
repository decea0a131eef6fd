"""Label quality from anyone's out-of-fold probabilities, by Bayes' rule.

The same rule as for the out-of-fold probabilities of CrossPrestopping, in numpy, so
that torch is not needed.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skpresto._labels import Codes
from skpresto.noise._counts import shrunken_rows_given_truth

Floats = NDArray[np.float64]

# Lower bound of a probability, so that none excludes a class.
_MIN_PROBABILITY = 1e-6
# Temperatures that flatten probabilities, from 1 to 4.
_TEMPERATURES = [2 ** (step / 10) for step in range(21)]
# Likelihoods that differ by less count as equal, and the lowest temperature is chosen.
_TOLERANCE = 1e-9


class Assessment(NamedTuple):
    """What probabilities say about labels, one entry per sample.

    Parameters
    ----------
    quality : ndarray of shape (n_samples,)
        Posterior probability that the given label is correct.
    suggested : ndarray of shape (n_samples,)
        Class number with the highest posterior probability.
    """

    quality: Floats
    suggested: NDArray[np.intp]


def assess_labels(probability: Floats, codes: Codes) -> Assessment:
    """Return the posterior probability of each given label, and the likeliest class.

    Parameters
    ----------
    probability : ndarray of shape (n_samples, n_classes)
        Out-of-fold probabilities.
    codes : ndarray of shape (n_samples,)
        Class numbers of the given labels.
    """
    labels = codes.astype(np.intp)
    logs = _temperature_scaled(
        np.log(np.maximum(probability, _MIN_PROBABILITY)), labels
    )
    transitions = _counted_transitions(logs, labels)
    joint = logs + np.log(transitions.T[labels])
    own = np.take_along_axis(joint, labels[:, None], axis=1)[:, 0]
    suggested = joint.argmax(axis=1)
    np.put_along_axis(joint, labels[:, None], -np.inf, axis=1)
    odds = own - np.logaddexp.reduce(joint, axis=1)
    return Assessment(1 / (1 + np.exp(-odds)), suggested)


def _counted_transitions(logs: Floats, labels: NDArray[np.intp]) -> Floats:
    """Return how often each predicted class carries each label."""
    predicted = logs.argmax(axis=1)
    counted = _above_class_median_confidence(logs.max(axis=1), predicted)
    return shrunken_rows_given_truth(labels[counted], predicted[counted], logs.shape[1])


def _temperature_scaled(logs: Floats, labels: NDArray[np.intp]) -> Floats:
    """Return log-probabilities at the temperature that fits the labels best.

    The likelihood of the labels accounts for label noise.
    """
    of_label = np.log(_counted_transitions(logs, labels).T[labels])

    def scaled(temperature: float) -> Floats:
        flat = logs / temperature
        return flat - np.logaddexp.reduce(flat, axis=1, keepdims=True)

    def likelihood(temperature: float) -> Any:
        return np.logaddexp.reduce(scaled(temperature) + of_label, axis=1).mean()

    likelihoods = [likelihood(temperature) for temperature in _TEMPERATURES]
    enough = max(likelihoods) - _TOLERANCE
    fitting = zip(_TEMPERATURES, likelihoods, strict=True)
    return scaled(next(t for t, value in fitting if value >= enough))


def _above_class_median_confidence(
    confidence: Floats, predicted: NDArray[np.intp]
) -> NDArray[np.bool_]:
    """Return which samples are at least as confident as the median of their class.

    Prediction errors are otherwise counted as label noise.
    """
    is_above = np.zeros(len(confidence), dtype=bool)
    for number in np.unique(predicted):
        members = np.flatnonzero(predicted == number)
        falling = np.sort(confidence[members])[::-1]
        is_above[members] = confidence[members] >= falling[(len(members) - 1) // 2]
    return is_above
