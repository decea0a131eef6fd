"""Precision and recall of a set of samples with respect to correct labels.

Both metrics compare a set of samples, such as ``safe_mask_``, with the samples whose
given label is the true one. They need true labels, so they are for research and tests.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_consistent_length, column_or_1d

from skpresto._label_types import refuse_other_type
from skpresto._labels import label_vector


def _memorized_and_correct(
    owner: str, memorized: ArrayLike, y: ArrayLike, y_true: ArrayLike
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    check_consistent_length(memorized, y, y_true)
    mask = column_or_1d(memorized)
    if mask.dtype != bool:
        raise ValueError(
            f"{owner} needs memorized to be a boolean mask with one entry per sample, "
            f"but got an array of dtype {mask.dtype}. Pass for example clf.safe_mask_."
        )
    labels = label_vector(y, owner)
    true_labels = label_vector(y_true, owner, "y_true")
    refuse_other_type(owner, labels, true_labels)
    return mask, np.asarray(labels == true_labels, dtype=bool)


def memorization_precision(
    memorized: ArrayLike, y: ArrayLike, y_true: ArrayLike
) -> float:
    """Return the fraction of memorized samples whose given label is correct.

    Parameters
    ----------
    memorized : array-like of shape (n_samples,), dtype=bool
        True for memorized samples, or for those of another set such as the safe set.
    y : array-like of shape (n_samples,)
        Given labels.
    y_true : array-like of shape (n_samples,)
        True labels.

    Returns
    -------
    precision : float
        ``nan`` if no sample is memorized.

    See Also
    --------
    memorization_recall : Fraction of correct labels that are memorized.

    Examples
    --------
    >>> from skpresto.metrics import memorization_precision
    >>> memorization_precision([True, True, False], ["a", "b", "b"], ["a", "a", "b"])
    0.5
    """
    mask, correct = _memorized_and_correct(
        "memorization_precision", memorized, y, y_true
    )
    return float(correct[mask].mean()) if mask.any() else float("nan")


def memorization_recall(memorized: ArrayLike, y: ArrayLike, y_true: ArrayLike) -> float:
    """Return the fraction of correctly labelled samples that are memorized.

    Parameters
    ----------
    memorized : array-like of shape (n_samples,), dtype=bool
        True for memorized samples, or for those of another set such as the safe set.
    y : array-like of shape (n_samples,)
        Given labels.
    y_true : array-like of shape (n_samples,)
        True labels.

    Returns
    -------
    recall : float
        ``nan`` if no label is correct.

    See Also
    --------
    memorization_precision : Fraction of memorized labels that are correct.

    Examples
    --------
    >>> from skpresto.metrics import memorization_recall
    >>> memorization_recall([True, True, False], ["a", "b", "b"], ["a", "a", "b"])
    0.5
    """
    mask, correct = _memorized_and_correct("memorization_recall", memorized, y, y_true)
    return float(mask[correct].mean()) if correct.any() else float("nan")
