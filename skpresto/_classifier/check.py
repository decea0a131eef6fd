"""Check everything that ``fit`` was given."""

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.utils import check_array, check_consistent_length
from sklearn.utils.multiclass import check_classification_targets
from torch import Tensor
from torch.utils.data import Dataset

from skpresto._classifier.feature_scale import (
    warn_of_dominant_features,
    warn_of_other_scale,
)
from skpresto._classifier.inputs import (
    check_rows,
    check_sample_shape,
    check_training_rows,
    is_of_several_parts,
    without_tensor,
)
from skpresto._classifier.pred_proba import check_pred_proba
from skpresto._classifier.weights import training_weights
from skpresto._data.dataset import labels_of
from skpresto._data.training_data import TrainingData
from skpresto._device import resolved_device
from skpresto._label_types import array_of_labels
from skpresto._labels import classes_of, encode, label_vector
from skpresto._training.request import FitRequest


def check_fit(
    estimator: Any,
    X: Any,
    y: Any,
    sample_weight: Any,
    X_val: Any,
    y_val: Any,
    y_true: Any,
    pred_proba: Any = None,
    *,
    rank: int | None = None,
) -> FitRequest:
    """Check the device and the arguments of ``fit``.

    ``estimator`` is a copy that will be fitted: scikit-learn's validation sets
    ``n_features_in_`` and ``feature_names_in_``. ``rank`` is the number of this process
    among those that train together on this machine.
    """
    device = checked_device(estimator, estimator.device, rank)
    y, y_val = without_tensor(y, "y"), without_tensor(y_val, "y_val")
    y_true = without_tensor(y_true, "y_true")
    sample_weight = without_tensor(sample_weight, "sample_weight")
    pred_proba = without_tensor(pred_proba, "pred_proba")
    name = type(estimator).__name__
    is_plain = y is None or array_of_labels(y, name).dtype.kind in "biufc"
    if not is_plain or np.ma.is_masked(y):
        # Before scikit-learn, which would convert some types to others.
        y = label_vector(y, name)
    rows, y = check_training_rows(estimator, X, y)
    shape = rows.sample_shape
    classes, labels = encode_labels(estimator, y)
    warn_of_dominant_features(estimator, rows)
    X_valid, valid_labels = check_validation_data(
        estimator, X_val, y_val, shape, classes
    )
    if X_valid is not None:
        warn_of_other_scale(estimator, rows, X_valid)
    is_correct = None
    if y_true is not None:
        is_correct = _check_true_labels(estimator, y, y_true, classes)
    data = TrainingData(
        X=rows,
        labels=labels,
        n_classes=len(classes),
        X_valid=X_valid,
        valid_labels=valid_labels,
        is_correct=is_correct,
        sample_weight=training_weights(
            estimator, labels.numpy(), sample_weight, classes
        ),
    )
    given = {"X_val": X_valid, "y_val": valid_labels, "y_true": is_correct}
    rule = estimator._check_request(given)
    if pred_proba is not None:
        pred_proba = check_pred_proba(name, pred_proba, len(labels), classes)
    return FitRequest(data, classes, shape, device, rule, pred_proba)


def checked_device(
    estimator: Any, device: Any, rank: int | None = None
) -> torch.device:
    """Return the device that a name means; raise if it cannot be used here."""
    try:
        found = resolved_device(device, rank)
        is_known = found.type != "meta"  # which holds no values
    except (RuntimeError, TypeError):
        is_known = False
    if not is_known:
        raise ValueError(
            f"{type(estimator).__name__} needs device to be a name that torch knows, "
            f"such as 'cpu', 'cuda', 'cuda:1' or 'mps', or 'auto', got {device!r}. "
            "GPUs of NVIDIA and AMD are called 'cuda'."
        )
    try:
        torch.empty(0, device=found)
    except (RuntimeError, AssertionError) as error:
        reason = str(error).strip().partition("\n")[0].partition(". ")[0].rstrip(".")
        raise ValueError(
            f"{type(estimator).__name__} cannot use device={device!r} on this machine: "
            f"{reason}. Use device='cpu' or 'auto', or install torch with support "
            "for it."
        ) from error
    return found


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
    return classes, torch.from_numpy(encode(y, classes, name).astype(np.int64))


def check_validation_data(
    estimator: Any, X_val: Any, y_val: Any, input_shape: Any, classes: NDArray
) -> tuple[Any, Tensor | None]:
    """Validate ``X_val`` and ``y_val`` against the training data."""
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
    has_parts = is_of_several_parts(X_val, input_shape)
    if not has_parts and not isinstance(X_val, Dataset):
        settings = {"accept_sparse": True, "allow_nd": True, "dtype": None}
        check_array(X_val, input_name="X_val", estimator=estimator, **settings)
        check_sample_shape(estimator, np.shape(X_val)[1:], input_shape, "X_val")
    rows = check_rows(estimator, X_val, input_shape)
    y_val = label_vector(y_val, name, "y_val")
    check_consistent_length(rows, y_val)
    way_out = "add training samples of these classes"
    codes = encode(y_val, classes, name, "y_val", way_out=way_out)
    return rows, torch.from_numpy(codes.astype(np.int64))


def _check_true_labels(
    estimator: Any, y: NDArray, y_true: Any, classes: NDArray
) -> Tensor:
    """Return which of the given labels are the true ones."""
    y_true = label_vector(y_true, type(estimator).__name__, "y_true")
    check_consistent_length(y, y_true)
    if not np.isin(y_true, classes).any():
        raise ValueError(
            f"{type(estimator).__name__} found no label in y_true that y has too: "
            f"y_true begins {y_true[:3].tolist()!r}, the classes are "
            f"{classes.tolist()!r}. Give both the same kind of labels."
        )
    return torch.from_numpy(np.asarray(y_true == y, dtype=bool))
