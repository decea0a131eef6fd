"""The weight of each training sample, from ``sample_weight`` and ``class_weight``."""

from numbers import Real
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from skpresto._sklearn import _check_sample_weight


def training_weights(
    estimator: Any, labels: NDArray, sample_weight: Any, classes: NDArray
) -> Tensor | None:
    """Return the weight of each sample, the largest being 1; None if all are equal.

    Parameters
    ----------
    estimator : object
        A classifier with ``class_weight``.
    labels : ndarray of shape (n_samples,)
        Given labels, as class numbers.
    sample_weight : array-like of shape (n_samples,), float or None
        Weights given to ``fit``, which those of the classes multiply.
    classes : ndarray of shape (n_classes,)
        The class labels.

    Raises
    ------
    ValueError
        If weights are negative or not finite, if there is not one per sample, or if
        fewer than two classes have a weight above 0.
    """
    if sample_weight is None and estimator.class_weight is None:
        return None
    weights = _checked_sample_weight(estimator, labels, sample_weight)
    weights = weights / weights.max()
    if estimator.class_weight is not None:
        weights = weights * _class_weights(estimator, labels, weights, classes)[labels]
    largest = weights.max()
    if weights.min() == largest > 0:
        return None
    # At most 1, so that sums of single-precision weights neither overflow nor vanish.
    result = torch.from_numpy((weights / (largest or 1)).astype(np.float32))
    with_weight = np.unique(labels[result.numpy() > 0])
    if len(with_weight) < 2:
        raise ValueError(
            f"{type(estimator).__name__} needs samples of at least 2 classes with a "
            f"weight above 0, got {classes[with_weight].tolist()}. Check "
            "sample_weight and class_weight."
        )
    return result


def validation_weights(
    estimator: Any, labels: NDArray, classes: NDArray
) -> Tensor | None:
    """Return the weight of each validation sample; None if all are equal.

    Validation samples have no weights but those of their class. They are balanced, if
    that is asked for, by their own number in each class.
    """
    if estimator.class_weight is None:
        return None
    of_class = _class_weights(estimator, labels, np.ones(len(labels)), classes)
    return torch.from_numpy(of_class[labels].astype(np.float32))


def _checked_sample_weight(
    estimator: Any, labels: NDArray, sample_weight: Any
) -> NDArray:
    try:
        weights = _check_sample_weight(
            sample_weight, labels, dtype=np.float64, ensure_non_negative=True
        )
        if not weights.any():  # not all versions of scikit-learn check that
            raise ValueError("Sample weights must contain a number other than 0.")
    except ValueError as error:
        raise ValueError(
            f"{type(estimator).__name__} cannot use sample_weight: {error} Pass one "
            f"weight of at least 0 for each of the {len(labels)} samples, not all 0."
        ) from error
    return weights


def _class_weights(
    estimator: Any, labels: NDArray, weights: NDArray, classes: NDArray
) -> NDArray:
    """Return the weight of each class."""
    class_weight = estimator.class_weight
    if isinstance(class_weight, str):  # "balanced"
        totals = np.bincount(labels, weights, minlength=len(classes))
        # A class whose samples have no weight keeps none.
        return totals.max() / np.where(totals > 0, totals, np.inf)
    name = type(estimator).__name__
    of_class = [class_weight.get(label, None) for label in classes.tolist()]
    unknown = [label for label in class_weight if label not in set(classes.tolist())]
    if unknown and None in of_class:
        raise ValueError(
            f"{name} got a class_weight for {unknown!r}, which y does not contain; the "
            f"classes are {classes.tolist()!r}. Give all classes a weight, or only "
            "classes that y contains."
        )
    values = [1.0 if weight is None else weight for weight in of_class]
    wrong = [w for w in values if not _is_weight(w)]
    if wrong:
        raise ValueError(
            f"{name} needs class_weight to map classes to finite numbers of at least "
            f"0, got {wrong[0]!r}."
        )
    return np.array(values, dtype=np.float64)


def _is_weight(value: Any) -> bool:
    return isinstance(value, Real) and bool(0 <= float(value) < np.inf)
