"""Validate the arguments of ``fit``."""

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.utils import check_array, check_consistent_length
from sklearn.utils.multiclass import check_classification_targets
from torch import Tensor
from torch.utils.data import Dataset

from skpresto._classifier.arrays import without_tensor
from skpresto._classifier.feature_scale import (
    warn_of_dominant_features,
    warn_of_other_scale,
)
from skpresto._classifier.inputs import (
    check_rows,
    check_sample_shape,
    has_several_parts,
)
from skpresto._classifier.weights import training_weights
from skpresto._data.dataset import labels_of
from skpresto._data.training_data import TrainingData
from skpresto._label_types import array_of_labels
from skpresto._labels import classes_of, encode, label_vector


def encode_labels(estimator: Any, y: Any) -> tuple[NDArray, Tensor]:
    """Return the classes of ``y``, sorted, and each label as a class number."""
    name = type(estimator).__name__
    y = label_vector(y, name)
    classes = classes_of(y, name)
    check_classification_targets(y)
    if len(classes) < 2:
        raise ValueError(
            f"{name} needs samples of at least 2 classes, but y contains only one "
            f"class: {classes[0]!r}. Check how the training rows were chosen."
        )
    return classes, _encoded(y, classes, name, "y")


def _encoded(labels: NDArray, classes: NDArray, owner: str, name: str) -> Tensor:
    way_out = "add training samples of these classes"
    codes = encode(labels, classes, owner, name, way_out=way_out)
    return torch.from_numpy(codes.astype(np.int64))


def check_validation_data(
    estimator: Any, X_val: Any, y_val: Any
) -> tuple[Any, Tensor | None]:
    """Validate ``X_val`` and ``y_val`` against what the estimator was fitted on."""
    name = type(estimator).__name__
    if X_val is None and y_val is None:
        return None, None
    if isinstance(X_val, Dataset) and y_val is None:
        y_val = labels_of(X_val)
    if X_val is None or y_val is None:
        given, missing = ("y_val", "X_val") if X_val is None else ("X_val", "y_val")
        raise ValueError(
            f"{name} needs X_val and y_val together, but fit() got only {given}. "
            f"Pass {missing} too, or neither."
        )
    X_val = without_tensor(X_val, "X_val")
    has_parts = has_several_parts(estimator, X_val, reset=False)
    if not has_parts and not isinstance(X_val, Dataset):
        settings = {"accept_sparse": True, "allow_nd": True, "dtype": None}
        check_array(X_val, input_name="X_val", estimator=estimator, **settings)
        check_sample_shape(estimator, np.shape(X_val)[1:], "X_val")
    rows = check_rows(estimator, X_val, reset=False)
    y_val = label_vector(y_val, name, "y_val")
    check_consistent_length(rows, y_val)
    return rows, _encoded(y_val, estimator.classes_, name, "y_val")


def _check_true_labels(estimator: Any, y: NDArray, y_true: Any) -> Tensor:
    """Return which of the given labels are the true ones."""
    y_true = label_vector(y_true, type(estimator).__name__, "y_true")
    check_consistent_length(y, y_true)
    if not np.isin(y_true, estimator.classes_).any():
        raise ValueError(
            f"{type(estimator).__name__} found no label in y_true that y has too: "
            f"y_true begins {y_true[:3].tolist()!r}, the classes are "
            f"{estimator.classes_.tolist()!r}. Give both the same kind of labels."
        )
    return torch.from_numpy(np.asarray(y_true == y, dtype=bool))


def check_training_data(
    estimator: Any,
    X: Any,
    y: Any,
    X_val: Any,
    y_val: Any,
    y_true: Any,
    sample_weight: Any = None,
) -> TrainingData:
    """Validate everything ``fit`` was given; sets ``classes_`` and input shapes."""
    name = type(estimator).__name__
    is_plain = y is None or array_of_labels(y, name).dtype.kind in "biufc"
    if not is_plain or np.ma.is_masked(y):
        # Before scikit-learn, which would convert some types to others.
        y = label_vector(y, name)
    rows, y = check_rows(estimator, X, y, reset=True)
    estimator.classes_, labels = encode_labels(estimator, y)
    estimator.input_shape_ = rows.sample_shape
    warn_of_dominant_features(estimator, rows)
    X_valid, valid_labels = check_validation_data(estimator, X_val, y_val)
    if X_valid is not None:
        warn_of_other_scale(estimator, rows, X_valid)
    is_correct = None
    if y_true is not None:
        is_correct = _check_true_labels(estimator, y, y_true)
    return TrainingData(
        X=rows,
        labels=labels,
        n_classes=len(estimator.classes_),
        X_valid=X_valid,
        valid_labels=valid_labels,
        is_correct=is_correct,
        sample_weight=training_weights(estimator, labels.numpy(), sample_weight),
    )
