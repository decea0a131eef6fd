"""Bayes' rule for given labels in numpy, for all that must start without torch.

The same rule as :mod:`skpresto._label_quality.posterior` has for tensors: if samples of
class j carry the label k with probability ``T[j, k]``, a sample with probabilities p
and given label k belongs to class j with a probability proportional to
``p[j] * T[j, k]``. A row of zeros means that nothing is known of a sample.
"""

import numpy as np
from numpy.typing import NDArray

from skpresto._labels import Codes, parts
from skpresto.noise._counts import shrunken_rows_given_truth

Floats = NDArray[np.floating]


def count_transitions(probability: Floats, labels: Codes) -> Floats:
    """Return how often each most probable class carries each label.

    Parameters
    ----------
    probability : ndarray of shape (n_samples, n_classes)
        Class probabilities. Samples of which nothing is known are not counted.
    labels : ndarray of shape (n_samples,)
        Class numbers of the given labels.

    Returns
    -------
    transitions : ndarray of shape (n_classes, n_classes)
        Rows for true classes, columns for given labels. All entries are positive: the
        wrong labels of each class are shrunk towards uniform ones, as far as the counts
        are uniform (:func:`~skpresto.noise._counts.shrunken_rows_given_truth`).
    """
    known = np.flatnonzero(probability.any(axis=1))
    predicted = probability[known].argmax(axis=1)
    return shrunken_rows_given_truth(labels[known], predicted, probability.shape[1])


def evidence_of_labels_around(
    given_probability: Floats, transitions: Floats, strength: float = 1.0
) -> Floats:
    """Return how well each class explains the labels that are given around a sample.

    Parameters
    ----------
    given_probability : ndarray of shape (n_samples, n_classes)
        ``V[i, k]``, the probability that sample i is *given* the label k, predicted by
        a classifier that was not trained on it.
    transitions : ndarray of shape (n_classes, n_classes)
        ``T[j, k]``, the probability that a sample of class j carries the label k.
    strength : float, default=1.0
        ``b``, how much a classifier is trusted.

    Returns
    -------
    evidence : ndarray of shape (n_samples, n_classes)
        ``exp(b * sum_k V[i, k] * log T[j, k])``, divided by the largest of each row.
        All ones where nothing is known.

    Examples
    --------
    >>> V = np.array([[0.6, 0.4], [0.0, 0.0]])
    >>> evidence_of_labels_around(V, np.array([[0.8, 0.2], [0.2, 0.8]])).round(2)
    array([[1.  , 0.76],
           [1.  , 1.  ]])
    """
    of_class = np.log(transitions).T.astype(given_probability.dtype)
    logs = strength * (given_probability @ of_class)
    logs -= logs.max(axis=1, keepdims=True)
    return np.exp(logs, out=logs)


def normalized(values: Floats) -> Floats:
    """Return rows divided by their sums; rows of zeros remain."""
    totals = values.sum(axis=1, keepdims=True)
    return values / np.where(totals > 0, totals, 1)


def posterior(probability: Floats, labels: Codes, transitions: Floats) -> Floats:
    """Return the posterior class probabilities of each sample, by Bayes' rule.

    Examples
    --------
    >>> p, T = np.array([[0.5, 0.5]]), np.array([[0.9, 0.1], [0.3, 0.7]])
    >>> posterior(p, np.array([0]), T)
    array([[0.75, 0.25]])
    """
    return normalized(probability * transitions.T.astype(probability.dtype)[labels])


def quality_of(probability: Floats, labels: Codes, transitions: Floats) -> Floats:
    """Return the posterior probability of each given label, without ties.

    It is computed from log-odds in double precision, in which nearly certain labels
    still differ. Zero where nothing is known.
    """
    quality = np.zeros(len(labels))
    of_label = np.log(transitions).T
    for part in parts(len(labels)):
        column = labels[part].astype(np.intp)[:, np.newaxis]
        with np.errstate(divide="ignore"):
            joint = (
                np.log(probability[part].astype(np.float64)) + of_label[column[:, 0]]
            )
        own = np.take_along_axis(joint, column, axis=1)[:, 0]
        np.put_along_axis(joint, column, -np.inf, axis=1)
        other = np.logaddexp.reduce(joint, axis=1)
        is_known = own > -np.inf
        with np.errstate(over="ignore"):
            odds = np.exp(other[is_known] - own[is_known])
        quality[part][is_known] = 1 / (1 + odds)
    return quality


def weights_by_lead(posterior: Floats, labels: Codes) -> Floats:
    """Return weights of labels by their lead over the most probable other class.

    A label of posterior probability a, where the most probable other class has b, has
    the weight ``a / (a + b)``, and none if that is below one half or nothing is known.

    Examples
    --------
    >>> p = np.array([[0.75, 0.25, 0.0], [0.3, 0.5, 0.2], [0.4, 0.2, 0.4]])
    >>> weights_by_lead(p, np.array([0, 0, 0]))
    array([0.75, 0.  , 0.5 ])
    """
    column = labels.astype(np.intp)[:, np.newaxis]
    own = np.take_along_axis(posterior, column, axis=1)[:, 0]
    others = posterior.copy()
    np.put_along_axis(others, column, 0, axis=1)
    both = own + others.max(axis=1)
    weights = own / np.where(both > 0, both, 1)
    weights[weights < 0.5] = 0
    return weights


def log_likelihoods(probability: Floats, labels: Codes, transitions: Floats) -> Floats:
    """Return the logarithm of the probability of each given label, forward-corrected.

    The probability of the label k is ``sum_j p[j] * T[j, k]``. Samples of which nothing
    is known have the probability that ``T`` gives to the label on average.

    Examples
    --------
    >>> p, T = np.array([[1.0, 0.0], [0.5, 0.5]]), np.array([[0.9, 0.1], [0.3, 0.7]])
    >>> np.exp(log_likelihoods(p, np.array([0, 0]), T))
    array([0.9, 0.6])
    """
    of_label = transitions.T[labels]
    known = probability.any(axis=1)
    values = np.where(
        known, (normalized(probability) * of_label).sum(axis=1), of_label.mean(axis=1)
    )
    return np.log(values)
