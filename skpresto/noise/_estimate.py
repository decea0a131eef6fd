"""Estimate the transition matrix and the noise rate of labels that are noisy."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array, check_consistent_length

from skpresto._labels import Codes, Labels, classes_of, encode, label_vector, parts
from skpresto.noise._counts import joint_counts, rows_given_truth
from skpresto.noise._stochastic import check_transition_matrix

_ROWS_AT_A_TIME = 65536


def estimate_transition_matrix(
    y_noisy: ArrayLike,
    y_true: ArrayLike | None = None,
    *,
    pred_proba: ArrayLike | None = None,
    classes: ArrayLike | None = None,
) -> NDArray[np.float64]:
    """Estimate the transition matrix of noisy labels.

    With true labels, by counting. Without them, by the confident joint [1]_: a sample
    is counted as truly of a class if the predicted probability of that class is at
    least its average over the samples with that label. Errors of the classifier are
    counted as noise too, so that these estimates tend to be too high.

    Parameters
    ----------
    y_noisy : array-like of shape (n_samples,)
        Given labels.
    y_true : array-like of shape (n_samples,), default=None
        True labels.
    pred_proba : array-like of shape (n_samples, n_classes), default=None
        Instead of ``y_true``: out-of-fold class probabilities, such as those of
        :func:`sklearn.model_selection.cross_val_predict`. Probabilities of samples that
        the classifier was trained on hide the noise that it has memorized.
    classes : array-like of shape (n_classes,), default=None
        All classes, sorted, such as ``classes_`` of the classifier. By default the
        classes that occur in the labels.

    Returns
    -------
    matrix : ndarray of shape (n_classes, n_classes)
        In row i and column j the estimated probability that a sample of true class i
        is labelled j; rows sum to 1. The row of a class without any sample (counted
        as) truly of it has 1 on the diagonal.

    See Also
    --------
    noise_rate_from : Fraction of wrong labels that follows from a matrix.
    TransitionMatrixNoise : Add noise with a given transition matrix.

    References
    ----------
    .. [1] C. Northcutt, L. Jiang and I. Chuang, "Confident learning: estimating
       uncertainty in dataset labels", JAIR 70, 2021.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.model_selection import cross_val_predict
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from skpresto.noise import (
    ...     PairNoise, estimate_transition_matrix, noise_rate_from
    ... )
    >>> X, y = load_digits(return_X_y=True)
    >>> y_noisy = PairNoise(rate=0.3, exact=True, random_state=0).fit_transform(y)
    >>> counted = estimate_transition_matrix(y_noisy, y)
    >>> round(noise_rate_from(counted), 2)
    0.3
    >>> classifier = KNeighborsClassifier(n_neighbors=20)
    >>> pred_proba = cross_val_predict(classifier, X, y_noisy, method="predict_proba")
    >>> estimated = estimate_transition_matrix(y_noisy, pred_proba=pred_proba)
    >>> bool(abs(noise_rate_from(estimated) - 0.3) < 0.05)
    True
    """
    owner = "estimate_transition_matrix"
    if (y_true is None) == (pred_proba is None):
        given = "neither" if y_true is None else "both"
        raise ValueError(
            f"{owner} needs either y_true or pred_proba to compare y_noisy with, but "
            f"got {given}. Pass one of them."
        )
    noisy = label_vector(y_noisy, owner, "y_noisy")
    if pred_proba is None:
        true = label_vector(y_true, owner, "y_true")
        check_consistent_length(noisy, true)
        all_classes = _all_classes(classes, np.concatenate([noisy, true]), owner)
        given_codes = _encoded(noisy, all_classes, "y_noisy")
        true_codes = _encoded(true, all_classes, "y_true")
        joint = joint_counts(given_codes, true_codes, len(all_classes))
    else:
        all_classes = _all_classes(classes, noisy, owner)
        proba = _checked_proba(pred_proba, noisy, all_classes, owner)
        joint = _confident_joint(_encoded(noisy, all_classes, "y_noisy"), proba)
    return rows_given_truth(joint)


def noise_rate_from(matrix: ArrayLike, class_prior: ArrayLike | None = None) -> float:
    """Return the fraction of wrong labels that follows from a transition matrix.

    Parameters
    ----------
    matrix : array-like of shape (n_classes, n_classes)
        In row i and column j the probability that a label of class i becomes j.
    class_prior : array-like of shape (n_classes,), default=None
        Fraction of the *true* labels that are of each class. By default all classes
        are equally frequent.

    Returns
    -------
    rate : float
        Probability that a label is wrong: the parameter ``noise_rate`` of methods
        and stop rules.

    See Also
    --------
    estimate_transition_matrix : Estimate the matrix of noisy labels.

    Examples
    --------
    >>> from skpresto.noise import noise_rate_from
    >>> matrix = [[1.0, 0.0], [0.5, 0.5]]
    >>> noise_rate_from(matrix)
    0.25
    >>> round(noise_rate_from(matrix, class_prior=[0.8, 0.2]), 9)
    0.1
    """
    checked = check_transition_matrix(matrix, "noise_rate_from")
    wrong = 1 - checked.diagonal()
    if class_prior is None:
        return float(wrong.mean())
    try:
        prior = np.asarray(class_prior, dtype=np.float64)
    except (ValueError, TypeError):
        raise ValueError(
            "noise_rate_from needs a class_prior of fractions, one per class, but got "
            f"{class_prior!r}."
        ) from None
    if prior.shape != wrong.shape:
        raise ValueError(
            f"noise_rate_from needs a class_prior with one entry for each of the "
            f"{len(wrong)} classes of the matrix, but got an array of shape "
            f"{prior.shape}. Pass the fraction of each class."
        )
    if not (prior >= 0).all() or abs(prior.sum() - 1) > 1e-6:
        raise ValueError(
            "noise_rate_from needs a class_prior of non-negative fractions that sum to "
            f"1, but got {prior.tolist()}. Divide counts by their sum."
        )
    return float(prior @ wrong)


def _all_classes(classes: ArrayLike | None, labels: Labels, owner: str) -> Labels:
    if classes is None:
        return classes_of(labels, owner, "y_noisy")
    given = label_vector(classes, owner, "classes")
    if not np.array_equal(given, classes_of(given, owner, "classes")):
        raise ValueError(
            f"{owner} needs classes that are sorted and distinct, but got "
            f"{given.tolist()}. Pass classes_ of the classifier."
        )
    return given


def _encoded(labels: Labels, classes: Labels, name: str) -> Codes:
    owner = "estimate_transition_matrix"
    return encode(labels, classes, owner, name, way_out="add their labels to classes")


def _checked_proba(
    pred_proba: Any, noisy: Labels, classes: Labels, owner: str
) -> NDArray[np.float64]:
    proba = check_array(pred_proba, input_name="pred_proba")
    check_consistent_length(noisy, proba)
    if proba.shape[1] != len(classes):
        raise ValueError(
            f"{owner} needs one column of pred_proba for each of {len(classes)} "
            f"classes, but got {proba.shape[1]} columns. If some classes do not occur "
            "in y_noisy, pass classes=classifier.classes_."
        )
    if (proba < 0).any() or np.abs(proba.sum(axis=1) - 1).max() > 1e-3:
        raise ValueError(
            f"{owner} needs pred_proba with non-negative rows that sum to 1, but its "
            f"smallest entry is {proba.min():.3g} and its rows sum to between "
            f"{proba.sum(axis=1).min():.3g} and {proba.sum(axis=1).max():.3g}. Convert "
            "scores to probabilities first, for example by a softmax."
        )
    return proba


def _confident_joint(noisy: Codes, proba: NDArray[np.float64]) -> NDArray[np.float64]:
    """Count as :func:`joint_counts`, with confident predictions as the true labels."""
    n_classes = proba.shape[1]
    n_given = np.bincount(noisy, minlength=n_classes)
    self_confidence = proba[np.arange(len(noisy)), noisy]
    # No sample is confidently of a class that no sample is labelled with.
    threshold = np.full(n_classes, np.inf)
    np.divide(
        np.bincount(noisy, weights=self_confidence, minlength=n_classes),
        n_given,
        out=threshold,
        where=n_given > 0,
    )

    joint = np.zeros((n_classes, n_classes))
    for part in parts(len(noisy), _ROWS_AT_A_TIME):
        confident = np.where(proba[part] >= threshold, proba[part], -1.0)
        is_counted = confident.max(axis=1) >= 0
        predicted = confident.argmax(axis=1)[is_counted]
        joint += joint_counts(noisy[part][is_counted], predicted, n_classes)

    # Samples that are confidently of no class are distributed like the counted ones.
    n_counted = joint.sum(axis=1)
    np.fill_diagonal(joint, joint.diagonal() + (n_counted == 0))
    return joint * (n_given / np.maximum(n_counted, 1))[:, np.newaxis]
