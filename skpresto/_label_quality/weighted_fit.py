"""Fit any classifier of scikit-learn's kind on some rows, weighted if it can be."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import config_context
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from skpresto._labels import Codes, Labels, decode
from skpresto._sklearn import _check_method_params, _safe_indexing


def seeded_clone(estimator: Any, rng: np.random.RandomState) -> Any:
    """Return an unfitted clone whose every ``random_state`` of None is a number."""
    model = clone(estimator)
    unseeded = [
        name
        for name, value in sorted(model.get_params(deep=True).items())
        if name.split("__")[-1] == "random_state" and value is None
    ]
    return model.set_params(**{name: rng.randint(2**31 - 1) for name in unseeded})


def name_of_weights(estimator: Any) -> str | None:
    """Return the name of the argument of ``fit`` for sample weights, or None.

    Of a Pipeline it is that of its last step, of a search that of its estimator.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from sklearn.pipeline import make_pipeline
    >>> name_of_weights(make_pipeline(LogisticRegression()))
    'logisticregression__sample_weight'
    >>> name_of_weights(KNeighborsClassifier()) is None
    True
    """
    if has_fit_parameter(estimator, "sample_weight"):
        return "sample_weight"
    steps = getattr(estimator, "steps", None)
    if steps:
        step, last = steps[-1]
        inner = name_of_weights(last)
        return None if inner is None else f"{step}__{inner}"
    if hasattr(estimator, "refit") and hasattr(estimator, "estimator"):
        return name_of_weights(estimator.estimator)
    return None


def fit_rows(
    model: Any,
    X: Any,
    codes: Codes,
    classes: Labels,
    rows: NDArray[np.intp],
    weights: NDArray[Any] | None = None,
    params: dict[str, Any] | None = None,
) -> Any:
    """Fit a classifier on some rows, and return it.

    Parameters
    ----------
    model : classifier
        It is fitted itself, not a clone.
    X : array-like of shape (n_samples, ...)
        All samples.
    codes : ndarray of shape (n_samples,)
        Class numbers of all labels.
    classes : ndarray of shape (n_classes,)
        The label of each class number.
    rows : ndarray of shape (n_rows,)
        Positions of the rows to fit on.
    weights : ndarray of shape (n_samples,), default=None
        Weights of all rows, for a classifier that takes them. Equal weights are none.
    params : dict, default=None
        Further arguments of ``fit``; those with an entry per sample are indexed.
    """
    params = _check_method_params(X, params or {}, indices=rows)
    labels = _labels_of(model, codes[rows], classes)
    of_rows = None if weights is None else weights[rows]
    name = name_of_weights(model)
    if of_rows is None or name is None or (of_rows == of_rows[0]).all():
        return model.fit(_safe_indexing(X, rows), labels, **params)
    # Weights are passed to the last step by name, whether it has requested them or not.
    with config_context(enable_metadata_routing=False):
        return model.fit(_safe_indexing(X, rows), labels, **{**params, name: of_rows})


def _labels_of(model: Any, codes: Codes, classes: Labels) -> Labels:
    """Return labels to fit on.

    Some classifiers, XGBoost among them, take the numbers 0, 1, 2, ... only, and none
    may be missing. Labels that are such numbers are then numbered anew.
    """
    is_numbered = np.array_equal(classes, np.arange(len(classes)))
    if is_numbered and classes.dtype.kind in "iu":
        present, numbers = np.unique(codes, return_inverse=True)
        params = model.get_params(deep=True)
        by_label = any(
            isinstance(value, dict)
            for name, value in params.items()
            if name.endswith("class_weight")
        )
        if len(present) < len(classes) and not by_label:
            return numbers.astype(classes.dtype)
    return decode(codes, classes)
