"""How well what a network has memorized agrees with what is true.

Both measures compare a set of samples, such as ``safe_mask_``, with the samples whose
given label is the true one. They need true labels, so they serve research and tests.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_consistent_length, column_or_1d


def _memorized_and_correct(
    memorized: ArrayLike, y: ArrayLike, y_true: ArrayLike
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    check_consistent_length(memorized, y, y_true)
    mask = column_or_1d(memorized)
    if mask.dtype != bool:
        raise ValueError(
            "memorized must be a boolean mask with one entry a sample, got an array of "
            f"dtype {mask.dtype}; pass for instance clf.safe_mask_."
        )
    return mask, column_or_1d(y) == column_or_1d(y_true)


def memorization_precision(
    memorized: ArrayLike, y: ArrayLike, y_true: ArrayLike
) -> float:
    """Return the share of the memorized samples whose label is the true one.

    Parameters
    ----------
    memorized : array-like of shape (n_samples,), dtype=bool
        Which samples are memorized, or safe.
    y : array-like of shape (n_samples,)
        Labels as given, some of them wrong.
    y_true : array-like of shape (n_samples,)
        True labels.

    Returns
    -------
    precision : float
        ``nan`` if nothing is memorized.

    See Also
    --------
    memorization_recall : Share of the correct labels that are memorized.

    Examples
    --------
    >>> from skpresto.metrics import memorization_precision
    >>> memorization_precision([True, True, False], ["a", "b", "b"], ["a", "a", "b"])
    0.5
    """
    mask, correct = _memorized_and_correct(memorized, y, y_true)
    return float(correct[mask].mean()) if mask.any() else float("nan")


def memorization_recall(memorized: ArrayLike, y: ArrayLike, y_true: ArrayLike) -> float:
    """Return the share of the correctly labelled samples that are memorized.

    Parameters
    ----------
    memorized : array-like of shape (n_samples,), dtype=bool
        Which samples are memorized, or safe.
    y : array-like of shape (n_samples,)
        Labels as given, some of them wrong.
    y_true : array-like of shape (n_samples,)
        True labels.

    Returns
    -------
    recall : float
        ``nan`` if no label is correct.

    See Also
    --------
    memorization_precision : Share of the memorized samples that are correct.

    Examples
    --------
    >>> from skpresto.metrics import memorization_recall
    >>> memorization_recall([True, True, False], ["a", "b", "b"], ["a", "a", "b"])
    0.5
    """
    mask, correct = _memorized_and_correct(memorized, y, y_true)
    return float(mask[correct].mean()) if correct.any() else float("nan")
