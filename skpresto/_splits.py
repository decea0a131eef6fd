"""Stratified random splits: rows to hold out, folds, and numbers per class.

Labels are class numbers 0 to n_classes - 1. All functions work on numpy arrays and draw
from a ``RandomState``, so that a seed gives the same split in every numpy version.
"""

from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray


def apportion(
    total: int, quotas: NDArray[Any], limits: NDArray[Any] | None = None
) -> NDArray[np.intp]:
    """Round quotas to whole numbers that add up to ``total``.

    The method of largest remainders: all quotas are rounded down, then those that lost
    most are rounded up instead. Of equal remainders, the first is rounded up.

    Parameters
    ----------
    total : int
        What the numbers should add up to: the sum of the quotas, rounded.
    quotas : ndarray of shape (n,)
        Non-negative numbers.
    limits : ndarray of shape (n,), default=None
        A number is rounded up only if it is below its limit. Where too few are, the
        numbers add up to less than ``total``.

    Returns
    -------
    numbers : ndarray of shape (n,), dtype=intp
        Each differs from its quota by less than 1.

    Examples
    --------
    >>> quotas = np.array([1.6, 1.7, 0.7])
    >>> apportion(4, quotas).tolist()
    [1, 2, 1]
    >>> apportion(4, quotas, limits=np.array([2, 1, 1])).tolist()
    [2, 1, 1]
    """
    numbers = np.floor(quotas).astype(np.intp)
    by_remainder = np.argsort(numbers - quotas, kind="stable")
    if limits is not None:
        by_remainder = by_remainder[(numbers < limits)[by_remainder]]
    n_rounded_up = max(total - int(numbers.sum()), 0)
    numbers[by_remainder[:n_rounded_up]] += 1
    return numbers


def shuffled_by_class(
    labels: NDArray[Any], rng: np.random.RandomState
) -> NDArray[np.intp]:
    """Return all positions sorted by class, in random order within each class.

    Examples
    --------
    >>> labels = np.array([1, 0, 1, 0])
    >>> order = shuffled_by_class(labels, np.random.RandomState(0))
    >>> labels[order].tolist(), sorted(order.tolist())
    ([0, 0, 1, 1], [0, 1, 2, 3])
    """
    order = rng.permutation(len(labels))
    return order[np.argsort(labels[order], kind="stable")]


def first_of_each_class(
    order: NDArray[np.intp], labels: NDArray[Any], n_per_class: NDArray[np.intp]
) -> NDArray[np.intp]:
    """Return the first positions of each class in an order sorted by class.

    Parameters
    ----------
    order : ndarray of shape (n_samples,)
        What :func:`shuffled_by_class` returned.
    labels : ndarray of shape (n_samples,)
        Class numbers.
    n_per_class : ndarray of shape (n_classes,)
        How many positions to take of each class.

    Returns
    -------
    positions : ndarray of shape (n_taken,)
        In the order of ``order``.

    Examples
    --------
    >>> order, labels = np.array([3, 1, 0, 2]), np.array([1, 0, 1, 0])
    >>> first_of_each_class(order, labels, np.array([1, 2])).tolist()
    [3, 0, 2]
    """
    counts = np.bincount(labels, minlength=len(n_per_class))
    sorted_labels = labels[order]
    start_of_class = np.cumsum(counts) - counts
    rank_in_class = np.arange(len(order)) - start_of_class[sorted_labels]
    return order[rank_in_class < n_per_class[sorted_labels]]


def hold_out(
    labels: NDArray[Any], fraction: float, rng: np.random.RandomState
) -> NDArray[np.intp] | None:
    """Draw rows to hold out of training, the same fraction of each class.

    A class never loses its last row, so that the class of a single row is in training
    only.

    Parameters
    ----------
    labels : ndarray of shape (n_samples,)
        Class numbers.
    fraction : float
        Fraction of the rows to hold out. At least one row is held out.
    rng : RandomState
        Source of randomness.

    Returns
    -------
    rows : ndarray of shape (n_held_out,) or None
        Sorted positions, or None if no class has two rows.

    Examples
    --------
    >>> labels = np.array([0, 0, 0, 0, 1, 1, 1, 1, 2])
    >>> rows = hold_out(labels, 0.25, np.random.RandomState(0))
    >>> labels[rows].tolist()
    [0, 1]
    >>> hold_out(np.array([0, 1, 2]), 0.5, np.random.RandomState(0)) is None
    True
    """
    counts = np.bincount(labels)
    quotas = np.minimum(fraction * counts, np.maximum(counts - 1, 0))
    total = min(round(fraction * len(labels)), len(labels) - 1)
    n_held_out = apportion(max(total, 1), quotas, limits=counts - 1)
    order = shuffled_by_class(labels, rng)
    rows = first_of_each_class(order, labels, n_held_out)
    return np.sort(rows) if len(rows) else None


def assign_folds(
    labels: NDArray[Any],
    cv: Any,
    rng: np.random.RandomState,
    owner: str = "Cross-fitting",
) -> NDArray[np.intp]:
    """Return the number of the fold that each sample is in.

    Parameters
    ----------
    labels : ndarray of shape (n_samples,)
        Class numbers.
    cv : int or splitter
        Number of folds, drawn at random with equal numbers of samples, overall and of
        each class, to within one sample. Or a scikit-learn splitter, any object with
        ``split(X, y)``, whose test folds must be disjoint; its training folds are not
        used, and neither is ``rng``.
    rng : RandomState
        Source of randomness.
    owner : str, default="Cross-fitting"
        Name of the estimator, for error messages.

    Returns
    -------
    folds : ndarray of shape (n_samples,)
        Fold numbers from 0. With an int, the only sample of a class is in no fold
        (-1): a network that leaves it out would not learn the class. With a splitter,
        samples that are in no test fold have -1.

    Examples
    --------
    >>> labels = np.array([0, 0, 1, 1, 1, 1, 2])
    >>> folds = assign_folds(labels, 2, np.random.RandomState(0))
    >>> np.bincount(folds[:6]).tolist(), np.bincount(folds[labels == 1]).tolist()
    ([3, 3], [2, 2])
    >>> int(folds[6])
    -1
    """
    if hasattr(cv, "split") and not isinstance(cv, (str, type)):
        return _test_folds(labels, cv, owner)
    if not isinstance(cv, Integral) or isinstance(cv, bool):
        raise TypeError(
            f"{owner} needs cv to be an int or a splitter with a method split(X, y), "
            f"but got cv={cv!r}. Pass for example cv=5 or StratifiedKFold(5)."
        )
    _check_number_of_folds(int(cv), cv, owner)
    order = shuffled_by_class(labels, rng)
    order = order[np.bincount(labels)[labels[order]] > 1]
    folds = np.full(len(labels), -1)
    folds[order] = np.arange(len(order)) % cv
    return folds


def _test_folds(labels: NDArray[Any], splitter: Any, owner: str) -> NDArray[np.intp]:
    folds = np.full(len(labels), -1)
    tests = _test_indices(labels, splitter, owner)
    for n_before, test in enumerate(tests):
        if not len(test):
            raise ValueError(
                f"{owner} needs a splitter without empty test folds, but test fold "
                f"{n_before} of cv={splitter!r} has no samples. Use fewer folds."
            )
        n_overlapping = int(np.count_nonzero(folds[test] >= 0))
        if n_overlapping:
            raise ValueError(
                f"{owner} needs a splitter whose test folds are disjoint, so that each "
                f"sample is in at most one of them, but {n_overlapping} samples of "
                f"test fold {n_before} of cv={splitter!r} are in an earlier one. Use "
                "for example StratifiedKFold."
            )
        folds[test] = n_before
    _check_number_of_folds(len(tests), splitter, owner)
    return folds


def _test_indices(
    labels: NDArray[Any], splitter: Any, owner: str
) -> list[NDArray[np.intp]]:
    n_samples = len(labels)
    try:
        # Splitters read only the length of X.
        splits = splitter.split(np.zeros((n_samples, 1)), labels)
        return [np.arange(n_samples)[test] for _, test in splits]
    except (ValueError, TypeError, IndexError) as error:
        raise ValueError(
            f"{owner} cannot split {n_samples} samples with cv={splitter!r}: {error} A "
            "splitter is called as split(X, y); to keep groups together, pass the fold "
            "of each sample as sklearn.model_selection.PredefinedSplit."
        ) from error


def _check_number_of_folds(n_folds: int, cv: Any, owner: str) -> None:
    if n_folds < 2:
        raise ValueError(
            f"{owner} needs at least 2 folds, but cv={cv!r} gives {n_folds}. Pass for "
            "example cv=5."
        )
