"""Check probabilities of the given labels that ``fit`` is given."""

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from skpresto._labels import shortened

#: How much the probabilities of a row may miss 1, as those in half precision do.
_SUM_TOLERANCE = 1e-2
_WAY_OUT = "Pass for example cross_val_predict(clf, X, y, cv=5, method='predict_proba')"


def check_pred_proba(
    owner: str, pred_proba: Any, n_samples: int, classes: NDArray
) -> Tensor:
    """Return probabilities of each class, of shape (n_samples, n_classes).

    Parameters
    ----------
    owner : str
        Name of the estimator, for error messages.
    pred_proba : array-like of shape (n_samples, n_classes)
        Columns with names are put into the order of the classes.
    n_samples : int
        Number of training samples.
    classes : ndarray of shape (n_classes,)
        The classes of the training labels, sorted.
    """
    order = _order_of_columns(owner, getattr(pred_proba, "columns", None), classes)
    try:
        probability = np.asarray(pred_proba, dtype=np.float32)
    except (ValueError, TypeError) as error:
        raise type(error)(
            f"{owner} needs pred_proba to be an array of numbers: {error}. {_WAY_OUT}."
        ) from error
    expected = n_samples, len(classes)
    if probability.shape != expected:
        raise ValueError(
            f"{owner} needs pred_proba with a row per sample and a column per class of "
            f"y, of shape {expected}, but got {probability.shape}. {_WAY_OUT}."
        )
    if not np.isfinite(probability).all():
        raise ValueError(
            f"{owner} needs a probability for every sample and class, but pred_proba "
            "contains NaN or infinity. Give a sample of which nothing is known a row "
            "of zeros."
        )
    sums = probability.sum(axis=1)
    is_off = (probability < 0).any(axis=1) | (np.abs(sums - 1) > _SUM_TOLERANCE)
    is_off &= (probability != 0).any(axis=1)
    if is_off.any():
        row = int(is_off.argmax())
        values = shortened(list(map(str, probability[row])))
        raise ValueError(
            f"{owner} needs probabilities that sum to 1, but row {row} of pred_proba "
            f"is {values}. Pass predict_proba, not decision_function."
        )
    return torch.from_numpy(np.ascontiguousarray(probability[:, order]))


def _order_of_columns(owner: str, columns: Any, classes: NDArray) -> Any:
    """Return where the column of each class is, if columns have names."""
    if columns is None:
        return slice(None)
    names, wanted = list(columns), classes.tolist()
    if sorted(map(str, names)) != sorted(map(str, wanted)):
        raise ValueError(
            f"{owner} needs one column of pred_proba for each class, with its label as "
            f"the name: the columns are {shortened(list(map(repr, names)))}, the "
            f"classes {shortened(list(map(repr, wanted)))}. Name the columns by the "
            "classes_ of the classifier, or pass an array in the order of the classes."
        )
    at = {str(name): column for column, name in enumerate(names)}
    return [at[str(label)] for label in wanted]
