"""How well a fitted classifier explains labels that may be wrong."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from skpresto._label_quality import bayes
from skpresto._labels import Codes

#: Powers to which probabilities are raised, since classifiers are over- or
#: underconfident; that of the highest likelihood is used.
_POWERS = [2.0 ** (step / 2) for step in range(-4, 5)]
_MIN_PROBABILITY = 1e-4


def explained(probability: NDArray[Any], codes: Codes) -> NDArray[Any]:
    """Return the log-likelihood of each given label, as a classifier explains it.

    What it predicts are classes, which carry labels as counted on the same rows. So a
    classifier is not rewarded for predicting wrong labels, as it is by its accuracy;
    it is if its predictions tell more about the labels.

    Parameters
    ----------
    probability : ndarray of shape (n_samples, n_classes)
        Predictions for rows that the classifier was not trained on.
    codes : ndarray of shape (n_samples,)
        Class numbers of the given labels.
    """
    logs = np.log(np.maximum(probability.astype(np.float64), _MIN_PROBABILITY))
    of_power = []
    for power in _POWERS:
        scaled = bayes.normalized(np.exp(power * logs))
        transitions = bayes.count_transitions(scaled, codes)
        of_power.append(bayes.log_likelihoods(scaled, codes, transitions))
    return max(of_power, key=np.mean)
