"""Transition matrices from counts of given and true labels."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from skpresto._labels import Codes

# Strengths of the prior of uniform errors among which the most likely one is chosen.
_STRENGTHS = (0.1, 0.3, 1, 3, 10, 30, 100, 300, 1000, 3000)
# Likelihoods that differ by less count as equal.
_TOLERANCE = 1e-6


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


def shrunken_rows_given_truth(
    noisy: Codes, true: Codes, n_classes: int, dtype: Any = np.float64
) -> NDArray[Any]:
    """Estimate a transition matrix, with less sampling error than counts have.

    The counts of a few wrong labels per class are mostly chance, and if ``true`` are
    predictions, their errors look like label noise between similar classes. The
    distribution of the wrong labels of each class is therefore shrunk towards the
    uniform one: it has a symmetric Dirichlet prior, whose strength is the one under
    which the counts of all classes are most likely (empirical Bayes). Uniform noise is
    found to be uniform; noise between pairs of classes is left as counted.

    The noise rate of a class is counted with one more sample, labelled at random.

    Parameters
    ----------
    noisy, true : ndarray of shape (n_samples,)
        Class numbers of the given labels, and of what is taken for the true ones.
    n_classes : int
        Number of classes.
    dtype : dtype, default=float64
        Floating dtype of the result.

    Returns
    -------
    matrix : ndarray of shape (n_classes, n_classes)
        As from :func:`rows_given_truth`; all entries are positive. It is stored by
        columns, which is how it is read: all classes for one label.

    Examples
    --------
    >>> import numpy as np
    >>> true = np.array([0] * 20 + [1] * 20 + [2] * 20)
    >>> noisy = np.array([0] * 18 + [1, 2] + [1] * 18 + [2, 2] + [2] * 19 + [0])
    >>> shrunken_rows_given_truth(noisy, true, n_classes=3).round(3)
    array([[0.873, 0.063, 0.063],
           [0.063, 0.873, 0.064],
           [0.04 , 0.04 , 0.921]])
    """
    is_wrong = true != noisy
    numbers = true[is_wrong].astype(np.intp) * n_classes + noisy[is_wrong]
    pairs, counts = np.unique(numbers, return_counts=True)
    rows, columns = np.divmod(pairs, n_classes)
    n_wrong = np.bincount(rows, weights=counts, minlength=n_classes)
    n_samples = np.bincount(true, minlength=n_classes)
    n_others = max(1, n_classes - 1)
    strength = _likeliest_strength(counts, n_wrong, n_others)
    rate = (n_wrong + 1 - 1 / n_classes) / (n_samples + 1)
    scale = rate / (n_wrong + strength)
    matrix = np.empty((n_classes, n_classes), dtype=dtype, order="F")
    matrix[:] = (scale * strength / n_others)[:, np.newaxis]
    matrix[rows, columns] += (scale[rows] * counts).astype(dtype)
    np.fill_diagonal(matrix, 1 - rate)
    return matrix


def _likeliest_strength(
    counts: NDArray[Any], n_wrong: NDArray[Any], n_others: int
) -> float:
    """Return the strength of the prior that explains the counts of wrong labels best.

    Parameters
    ----------
    counts : ndarray
        Counts of pairs of a class and a wrong label, those that occur.
    n_wrong : ndarray of shape (n_classes,)
        Their sum for each class.
    n_others : int
        Number of wrong labels that a class can have.
    """
    likelihoods = [
        np.sum(gammaln(strength) - gammaln(n_wrong + strength))
        + np.sum(gammaln(counts + strength / n_others) - gammaln(strength / n_others))
        for strength in _STRENGTHS
    ]
    enough = max(likelihoods) - _TOLERANCE
    both = zip(_STRENGTHS, likelihoods, strict=True)
    return max(strength for strength, likelihood in both if likelihood >= enough)
