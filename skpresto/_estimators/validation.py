"""Validate the arguments of ``fit`` and ``predict``."""

import warnings
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.utils import check_array, check_consistent_length, column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data
from torch import Tensor
from torch.utils.data import Dataset

from skpresto._engine.dataset_rows import DatasetRows, labels_of
from skpresto._engine.rows import TrainingData
from skpresto._labels import classes_of, encode, label_vector


def check_rows(estimator: Any, X: Any, y: Any = None, *, reset: bool) -> Any:
    """Validate ``X`` (and ``y`` in ``fit``), as float32 without needless copies.

    A memory map keeps its type, so that it can be read batch by batch. The items of a
    torch ``Dataset`` are read when needed; its labels are read if ``y`` is None.
    """
    if isinstance(X, Dataset):
        return _check_dataset(estimator, X, y, reset=reset)
    is_memmap = isinstance(X, np.memmap)
    settings = {
        "dtype": "numeric" if is_memmap else np.float32,
        "order": None if is_memmap else "C",
        "allow_nd": True,
        "reset": reset,
    }
    if not reset:
        X = validate_data(estimator, X, **settings)
        _check_shape(estimator, X, "X")
        return _as_tensor(X, is_memmap)
    X, y = validate_data(estimator, X, y, ensure_min_samples=2, **settings)
    return _as_tensor(X, is_memmap), y


def _check_dataset(estimator: Any, dataset: Dataset, y: Any, *, reset: bool) -> Any:
    rows = DatasetRows(dataset)
    if not reset:
        _check_shape(estimator, rows, "X")
        return rows
    y = column_or_1d(labels_of(dataset) if y is None else y, warn=True)
    check_consistent_length(rows, y)
    if len(rows) < 2 or len(rows.shape) < 2:
        raise ValueError(
            f"{type(estimator).__name__} needs at least 2 samples with at least one "
            f"feature each, but the features of {type(dataset).__name__} have the "
            f"shape {rows.shape}."
        )
    estimator.n_features_in_ = rows.shape[1]
    vars(estimator).pop("feature_names_in_", None)
    return rows, y


def _check_range(X: NDArray) -> None:
    """Raise if a memory map holds what float32 cannot; reads it block by block."""
    limit = np.finfo(np.float32).max
    for start in range(0, len(X) if X.dtype == np.float64 else 0, 4096):
        if np.abs(X[start : start + 4096]).max() > limit:
            raise ValueError(
                "Input X contains infinity or a value too large for dtype('float32')."
            )


def _as_tensor(X: NDArray, is_memmap: bool) -> Tensor | NDArray:
    if is_memmap:
        _check_range(X)
        return X
    with warnings.catch_warnings():
        # The tensor is only read from, so a read-only array may stand behind it.
        warnings.filterwarnings("ignore", message="The given NumPy array is not writ")
        return torch.from_numpy(X)


def _check_shape(estimator: Any, X: Any, name: str) -> None:
    shape = X.shape if isinstance(X, DatasetRows) else np.shape(X)
    expected, got = estimator.input_shape_, tuple(shape[1:])
    if got != expected:
        raise ValueError(
            f"{type(estimator).__name__} was given {name} with samples of shape {got}, "
            f"but fit() saw samples of shape {expected}. Use the same columns (or "
            "image size) as in training."
        )


def encode_labels(estimator: Any, y: Any) -> tuple[NDArray, Tensor]:
    """Return the classes of ``y``, sorted, and each label as a class number."""
    name = type(estimator).__name__
    y = label_vector(y, name)
    check_classification_targets(y)
    classes = classes_of(y, name)
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
    if not isinstance(X_val, Dataset):
        check_array(
            X_val, input_name="X_val", allow_nd=True, estimator=estimator, dtype=None
        )
        _check_shape(estimator, X_val, "X_val")
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
    estimator: Any, X: Any, y: Any, X_val: Any, y_val: Any, y_true: Any
) -> TrainingData:
    """Validate everything ``fit`` was given; sets ``classes_`` and input shapes."""
    rows, y = check_rows(estimator, X, y, reset=True)
    estimator.classes_, labels = encode_labels(estimator, y)
    estimator.input_shape_ = tuple(rows.shape[1:])
    X_valid, valid_labels = check_validation_data(estimator, X_val, y_val)
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
    )
