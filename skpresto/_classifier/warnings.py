"""Warnings about a stop point that is not settled, and about small selections."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from skpresto._labels import shortened
from skpresto._training.request import FitRequest
from skpresto._training.trainer import StopPoint
from skpresto._warn import warn_caller
from skpresto.exceptions import SafeSetWarning
from skpresto.stopping import StopRule

#: What it means that phase I was not stopped.
_PLAIN_TRAINING = (
    "no epoch is left for phase II, so the network is that of plain training, which is "
    "right if the labels are clean"
)

# A class that keeps a smaller fraction of its labels is reported.
_FEW = 0.1
# The same for a rare class if classes are not weighted. Most labels of a rare class may
# be wrong, since label noise adds some from every other class, so that it keeps few
# labels even if all is well; but in all experiments (docs/imbalance.md) weights helped.
_FEW_IF_RARE = 0.25
# A class is rare below this fraction of the mean number of labels per class.
_RARE = 0.5
# A safe set below this fraction of all labels is reported, of any method.
_SMALL_FRACTION = 0.01


def warn_unless_settled(
    estimator: Any,
    rule: StopRule,
    stop: StopPoint,
    without_stop_point: str = _PLAIN_TRAINING,
) -> None:
    """Warn if ``max_epochs`` ended before a rule was settled; say what is used."""
    if stop.is_settled:
        return
    used = f"the best stop point so far, epoch {stop.epoch}, is used"
    if stop.epoch == estimator.max_epochs:
        used = without_stop_point
    warn_caller(
        f"{type(estimator).__name__}: max_epochs={estimator.max_epochs} ended before "
        f"{rule} was settled; {used}.",
        ConvergenceWarning,
        "Raise max_epochs, or choose a rule that settles earlier.",
    )


def warn_of_small_safe_set(estimator: Any, is_safe: NDArray[np.bool_]) -> None:
    """Warn if the safe set has fewer labels than classes, or less than 1 % of them."""
    n_safe, n_samples = int(is_safe.sum()), len(is_safe)
    if n_safe >= max(len(estimator.classes_), _SMALL_FRACTION * n_samples):
        return
    warn_caller(
        f"{type(estimator).__name__}: only {n_safe} of {n_samples} labels are in the "
        "safe set, too few to tell which labels are correct.",
        SafeSetWarning,
        "Rank labels by label_quality_ instead, or check lr, max_epochs and the noise "
        "rate.",
    )


def warn_of_lost_classes(
    estimator: Any, request: FitRequest, is_safe: NDArray[np.bool_]
) -> None:
    """Warn of classes that keep few of their labels, and say what helps.

    Parameters
    ----------
    estimator : object
        A classifier with ``class_weight``.
    request : FitRequest
        What it was trained on. Rows of weight 0 are not counted.
    is_safe : ndarray of shape (n_samples,), dtype=bool
        Whether the given label of each sample is kept.
    """
    data = request.data
    labels, rows = data.labels.numpy(), data.rows_with_weight
    if rows is not None:
        labels, is_safe = labels[rows], is_safe[rows]
    n_given = np.bincount(labels, minlength=data.n_classes)
    n_kept = np.bincount(labels[is_safe], minlength=data.n_classes)
    few = few_kept(n_given, n_kept, is_weighted=estimator.class_weight is not None)
    if not len(few):
        return
    names = request.classes.tolist()
    numbers = [f"{names[k]!r} ({n_kept[k]} of {n_given[k]})" for k in few]
    way_out = "Add samples of these classes, or stop later"
    if estimator.class_weight is None:
        way_out = (
            "If they are rare, pass class_weight='balanced'; else add samples of these "
            "classes, or stop later"
        )
    warn_caller(
        f"{type(estimator).__name__}: few labels of class {shortened(numbers)} are in "
        "the safe set, so these classes may seldom or never be predicted.",
        SafeSetWarning,
        f"{way_out} (another stop rule, or more max_epochs).",
    )


def few_kept(
    n_given: NDArray[np.intp], n_kept: NDArray[np.intp], *, is_weighted: bool
) -> NDArray[np.intp]:
    """Return the classes that keep few of their labels.

    These are classes that keep less than a tenth and, unless classes are weighted, rare
    ones that keep less than a quarter. A class is rare if it has fewer than half as
    many labels as the mean of all classes.

    Parameters
    ----------
    n_given, n_kept : ndarray of shape (n_classes,)
        Number of labels of each class, and how many of them are kept.
    is_weighted : bool
        Whether classes are weighted.

    Examples
    --------
    >>> n_given, n_kept = np.array([900, 850, 250]), np.array([800, 80, 30])
    >>> few_kept(n_given, n_kept, is_weighted=False).tolist()
    [1, 2]
    >>> few_kept(n_given, n_kept, is_weighted=True).tolist()
    [1]
    """
    threshold = np.full(len(n_given), _FEW)
    if not is_weighted:
        threshold[n_given < _RARE * n_given.mean()] = _FEW_IF_RARE
    return np.flatnonzero(n_kept < threshold * n_given)
