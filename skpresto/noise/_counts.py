"""Transition matrices from counts of given and true labels."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from skpresto._labels import Codes


def joint_counts(
    noisy: Codes, true: Codes, n_classes: int, n_true: int | None = None
) -> NDArray[np.float64]:
    """Count samples by given label (rows) and true label (columns).

    Parameters
    ----------
    noisy : ndarray of shape (n_samples,)
        Class numbers of the given labels.
    true : ndarray of shape (n_samples,)
        Class numbers of the true labels, or of what is taken for them.
    n_classes : int
        Number of classes.
    n_true : int, default=None
        Number of true classes, if these are not all. None means ``n_classes``.

    Returns
    -------
    joint : ndarray of shape (n_classes, n_true), dtype=float64
        ``joint[k, j]`` samples of class j are labelled k.

    Examples
    --------
    >>> import numpy as np
    >>> joint_counts(np.array([0, 1, 1]), np.array([0, 0, 1]), n_classes=2)
    array([[1., 0.],
           [1., 1.]])
    """
    n_true = n_classes if n_true is None else n_true
    pairs = noisy.astype(np.intp) * n_true + true
    counts = np.bincount(pairs, minlength=n_classes * n_true)
    return counts.reshape(n_classes, n_true).astype(np.float64)


def rows_given_truth(
    joint: NDArray[Any], smoothing: float = 0.0, prior: NDArray[Any] | None = None
) -> NDArray[Any]:
    """Convert joint counts to a transition matrix, P(given label | true label).

    Parameters
    ----------
    joint : ndarray of shape (n_classes, n_true)
        Counts or weights by given label (rows) and true label (columns), as returned by
        :func:`joint_counts`. With smoothing, some of the true classes suffice.
    smoothing : float, default=0.0
        Number of samples to add to each class, with labels distributed as in ``prior``:
        ``(counts + smoothing * prior) / (total + smoothing)``.
    prior : ndarray of shape (n_true, n_classes), default=None
        Distribution of the added labels for each class (rows). None means uniform.

    Returns
    -------
    matrix : ndarray of shape (n_true, n_classes)
        In row j and column k the probability that a sample of class j is labelled k.
        Rows sum to 1. Without smoothing, the row of a class without samples has 1 on
        the diagonal. A floating dtype of ``joint`` is kept; integers give float64.

    Examples
    --------
    >>> import numpy as np
    >>> joint = np.array([[3, 0], [1, 0]])
    >>> rows_given_truth(joint)
    array([[0.75, 0.25],
           [0.  , 1.  ]])
    >>> rows_given_truth(joint, smoothing=1)
    array([[0.7, 0.3],
           [0.5, 0.5]])
    """
    is_floating = np.issubdtype(joint.dtype, np.floating)
    counts = joint.T.astype(joint.dtype if is_floating else np.float64, order="C")
    totals = counts.sum(axis=1, keepdims=True)
    if smoothing > 0:
        added = smoothing / counts.shape[1] if prior is None else smoothing * prior
        return (counts + added) / (totals + smoothing)
    is_empty = totals[:, 0] == 0
    counts[is_empty, is_empty] = totals[is_empty] = 1
    return counts / totals
