"""Finding out about noise that is there already: its matrix and its rate."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array, check_consistent_length

from skpresto.noise._labels import (
    Codes,
    Labels,
    classes_of,
    encode,
    label_vector,
    parts,
)
from skpresto.noise._stochastic import check_transition_matrix

_ROWS_AT_A_TIME = 65536


def estimate_transition_matrix(
    y_noisy: ArrayLike,
    y_true: ArrayLike | None = None,
    *,
    pred_proba: ArrayLike | None = None,
    classes: ArrayLike | None = None,
) -> NDArray[np.float64]:
    """Estimate how likely labels of each class are mistaken for each other.

    With true labels, by counting. Without them, by confident joint counting [1]_: a
    sample is counted as truly of a class if the predicted probability of that class is
    at least as high as it is on average for samples given that label. The classifier's
    own mistakes are counted as noise too, so such estimates tend to be high.

    Parameters
    ----------
    y_noisy : array-like of shape (n_samples,)
        The labels as given.
    y_true : array-like of shape (n_samples,), default=None
        The true labels, where they are known.
    pred_proba : array-like of shape (n_samples, n_classes), default=None
        Instead of ``y_true``: class probabilities predicted for samples that the
        classifier did not learn from, such as those of
        :func:`sklearn.model_selection.cross_val_predict`. From samples it has learned
        by heart it finds no noise.
    classes : array-like of shape (n_classes,), default=None
        All classes, sorted, such as ``classes_`` of the classifier. By default those
        that occur in the labels.

    Returns
    -------
    matrix : ndarray of shape (n_classes, n_classes)
        In row i and column j the estimated probability that a sample truly of class
        i is labelled j; rows sum to 1. A class without any sample (counted as) truly
        of it keeps its labels: 1 on the diagonal.

    See Also
    --------
    noise_rate_from : Share of wrong labels that a matrix amounts to.
    TransitionMatrixNoise : Put noise of a given matrix into labels.

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
    >>> known = estimate_transition_matrix(y_noisy, y)
    >>> round(noise_rate_from(known), 2)
    0.3
    >>> classifier = KNeighborsClassifier(n_neighbors=20)
    >>> pred_proba = cross_val_predict(classifier, X, y_noisy, method="predict_proba")
    >>> guessed = estimate_transition_matrix(y_noisy, pred_proba=pred_proba)
    >>> bool(abs(noise_rate_from(guessed) - 0.3) < 0.05)
    True
    """
    owner = "estimate_transition_matrix"
    if (y_true is None) == (pred_proba is None):
        given = "neither" if y_true is None else "both"
        raise ValueError(
            f"{owner} needs either y_true or pred_proba to compare y_noisy with, but "
            f"got {given}."
        )
    noisy = label_vector(y_noisy, owner)
    if pred_proba is None:
        true = label_vector(y_true, owner)
        check_consistent_length(noisy, true)
        known = _known_classes(classes, np.concatenate([noisy, true]), owner)
        noisy, true = _encoded(noisy, known), _encoded(true, known)
        return _rows_given_truth(_joint_counts(noisy, true, len(known)))
    known = _known_classes(classes, noisy, owner)
    proba = _checked_proba(pred_proba, noisy, known, owner)
    return _rows_given_truth(_confident_joint(_encoded(noisy, known), proba))


def noise_rate_from(matrix: ArrayLike, class_prior: ArrayLike | None = None) -> float:
    """Return the share of wrong labels that a transition matrix amounts to.

    Parameters
    ----------
    matrix : array-like of shape (n_classes, n_classes)
        In row i and column j the probability that a label of class i becomes j.
    class_prior : array-like of shape (n_classes,), default=None
        Share of each class among the *true* labels. By default all alike.

    Returns
    -------
    rate : float
        Probability that a label is wrong: what methods call ``noise_rate``.

    See Also
    --------
    estimate_transition_matrix : Find the matrix of noise that is there already.

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
    prior = np.asarray(class_prior, dtype=np.float64)
    if prior.shape != wrong.shape:
        raise ValueError(
            f"noise_rate_from needs a class_prior with one share for each of the "
            f"{len(wrong)} classes, but got an array of shape {prior.shape}."
        )
    if not (prior >= 0).all() or abs(prior.sum() - 1) > 1e-6:
        raise ValueError(
            "noise_rate_from needs a class_prior of non-negative shares that sum to 1, "
            f"but got {prior.tolist()}. Divide counts by their sum."
        )
    return float(prior @ wrong)


def _known_classes(classes: ArrayLike | None, labels: Labels, owner: str) -> Labels:
    if classes is None:
        return classes_of(labels, owner)
    known = label_vector(classes, owner)
    if not np.array_equal(known, classes_of(known, owner)):
        raise ValueError(
            f"{owner} needs classes that are sorted and distinct, but got "
            f"{known.tolist()}. Pass classes_ of the classifier."
        )
    return known


def _encoded(labels: Labels, classes: Labels) -> Codes:
    return encode(
        labels, classes, "estimate_transition_matrix", "classes does not hold"
    )


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
            f"{proba.sum(axis=1).min():.3g} and {proba.sum(axis=1).max():.3g}. Turn "
            "scores into probabilities first, for example by a softmax."
        )
    return proba


def _joint_counts(noisy: Codes, true: Codes, n_classes: int) -> NDArray[np.float64]:
    """Count samples by given label (rows) and true label (columns)."""
    pairs = noisy.astype(np.intp) * n_classes + true
    counts = np.bincount(pairs, minlength=n_classes**2)
    return counts.reshape(n_classes, n_classes).astype(np.float64)


def _confident_joint(noisy: Codes, proba: NDArray[np.float64]) -> NDArray[np.float64]:
    """Count as :func:`_joint_counts`, with guesses for the true labels."""
    n_classes = proba.shape[1]
    n_given = np.bincount(noisy, minlength=n_classes)
    own = proba[np.arange(len(noisy)), noisy]
    # nothing is confidently of a class whose label nobody was given
    threshold = np.full(n_classes, np.inf)
    np.divide(
        np.bincount(noisy, weights=own, minlength=n_classes),
        n_given,
        out=threshold,
        where=n_given > 0,
    )

    joint = np.zeros((n_classes, n_classes))
    for part in parts(len(noisy), _ROWS_AT_A_TIME):
        confident = np.where(proba[part] >= threshold, proba[part], -1.0)
        counted = confident.max(axis=1) >= 0
        guess = confident.argmax(axis=1)[counted]
        joint += _joint_counts(noisy[part][counted], guess, n_classes)

    # samples that are confidently nothing are taken to be mistaken like the others
    counted_as_given = joint.sum(axis=1)
    np.fill_diagonal(joint, joint.diagonal() + (counted_as_given == 0))
    return joint * (n_given / np.maximum(counted_as_given, 1))[:, np.newaxis]


def _rows_given_truth(joint: NDArray[np.float64]) -> NDArray[np.float64]:
    """Turn counts by (given, true) label into P(given | true), a row a true class."""
    matrix = joint.T.copy()
    without_samples = matrix.sum(axis=1) == 0
    matrix[without_samples, without_samples.nonzero()[0]] = 1
    return matrix / matrix.sum(axis=1, keepdims=True)
