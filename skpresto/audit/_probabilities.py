"""Label quality from anyone's out-of-fold probabilities, by Bayes' rule.

A classifier that learns noisy labels predicts how likely each label is *given* to a
sample. Bayes' rule, which multiplies by how often classes are mislabelled, would count
that noise twice, so the probabilities are squared first, which brings them near those
of the true class. Torch is not needed.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skpresto._label_quality.likeliest import Likeliest
from skpresto._label_quality.planted import PlantedErrors, planted_errors, sharpness
from skpresto._labels import Codes
from skpresto.noise._counts import shrunken_rows_given_truth

Floats = NDArray[np.float64]

# Power of the probabilities. Higher ones find more wrong labels, and suspect more of
# the correct ones (benchmarks/NOTES.md).
_POWER = 2.0
# The part of each probability that is shared by all classes, so that none is excluded.
_SHARED = 0.01
# Values that are computed at a time.
_VALUES_AT_ONCE = 1 << 20


class Assessment(NamedTuple):
    """What probabilities say about labels, one entry per sample.

    Parameters
    ----------
    quality : ndarray of shape (n_samples,)
        Posterior probability that the given label is correct.
    suggested : ndarray of shape (n_samples,)
        Class number with the highest posterior probability.
    likeliest : Likeliest
        The classes with the highest posterior probabilities.
    planted : PlantedErrors
        What labels that are wrong on purpose tell.
    """

    quality: Floats
    suggested: NDArray[np.intp]
    likeliest: Likeliest
    planted: PlantedErrors


def assess_labels(probability: Floats, codes: Codes) -> Assessment:
    """Return the posterior probability of each given label, and the likeliest class.

    Parameters
    ----------
    probability : ndarray of shape (n_samples, n_classes)
        Out-of-fold probabilities.
    codes : ndarray of shape (n_samples,)
        Class numbers of the given labels.
    """
    labels, n_classes = codes.astype(np.intp), probability.shape[1]
    transitions = shrunken_rows_given_truth(
        labels, probability.argmax(axis=1), n_classes
    )
    mixed = (1 - _SHARED) * probability + _SHARED / n_classes
    sharp = sharpness(mixed, labels)
    of_truth = _powered(mixed, _POWER * max(1.0, sharp))
    quality = np.empty(len(labels))
    suggested, likeliest = np.empty_like(labels), []
    of_label = transitions.T
    at_once = max(1, _VALUES_AT_ONCE // n_classes)
    for start in range(0, len(labels), at_once):
        part = slice(start, start + at_once)
        joint = of_truth[part] * of_label[labels[part]]
        suggested[part] = joint.argmax(axis=1)
        likeliest.append(Likeliest.of(joint / joint.sum(axis=1, keepdims=True)))
        own = np.take_along_axis(joint, labels[part, None], axis=1)[:, 0]
        np.put_along_axis(joint, labels[part, None], 0.0, axis=1)
        quality[part] = 1 / (1 + joint.sum(axis=1) / own)
    planted = planted_errors(of_truth, transitions, labels, sharp)
    return Assessment(quality, suggested, Likeliest.joined(likeliest), planted)


def _powered(probability: Floats, power: float) -> Any:
    """Return a power of probabilities, divided by the largest of each row, in place."""
    probability /= probability.max(axis=1, keepdims=True)
    return np.power(probability, power, out=probability)
