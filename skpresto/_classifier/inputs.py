"""Validate ``X``: arrays, sparse matrices, datasets, and several of them together."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import check_consistent_length, column_or_1d
from sklearn.utils.validation import validate_data
from torch.utils.data import Dataset

from skpresto._classifier.arrays import array_rows, part_rows, without_tensor
from skpresto._data.dataset import DatasetRows, labels_of
from skpresto._data.parts import PartsRows
from skpresto._numeric import numbers_expected


def check_rows(estimator: Any, X: Any, y: Any = None, *, reset: bool) -> Any:
    """Validate ``X`` (and ``y`` in ``fit``), as float32 without needless copies.

    Returns the rows, and in ``fit`` also ``y``. A memory map keeps its type, so that it
    can be read batch by batch, and a sparse matrix is converted to CSR. The items of a
    torch ``Dataset`` are read when needed; its labels are read if ``y`` is None.
    """
    if isinstance(X, Dataset):
        return _check_dataset(estimator, X, y, reset=reset)
    if has_several_parts(estimator, X, y, reset=reset):
        return _check_parts(estimator, X, y, reset=reset)
    X, is_memmap = without_tensor(X), isinstance(X, np.memmap)
    settings = {
        "accept_sparse": "csr",
        "dtype": "numeric" if is_memmap else np.float32,
        "order": None if is_memmap else "C",
        "ensure_all_finite": not is_memmap,  # checked block by block
        "allow_nd": True,
        "reset": reset,
    }
    if not reset:
        with numbers_expected(type(estimator).__name__, X):
            X = validate_data(estimator, X, **settings)
        rows = array_rows(X, is_memmap, type(estimator).__name__)
        check_sample_shape(estimator, rows.sample_shape, "X")
        return rows
    with numbers_expected(type(estimator).__name__, X):
        X, y = validate_data(estimator, X, y, ensure_min_samples=2, **settings)
    return array_rows(X, is_memmap, type(estimator).__name__), y


def _check_dataset(estimator: Any, dataset: Dataset, y: Any, *, reset: bool) -> Any:
    iterators = ("iterator_train__collate_fn", "iterator_valid__collate_fn")
    params = estimator.get_params(deep=False)
    is_collated = all(params.get(name) is not None for name in iterators)
    n_inputs = None if reset else _n_inputs(estimator)
    rows = DatasetRows(dataset, n_inputs=n_inputs, is_collated=is_collated)
    if not reset:
        check_sample_shape(estimator, rows.sample_shape, "X")
        return rows
    y = column_or_1d(labels_of(dataset) if y is None else y, warn=True)
    check_consistent_length(rows, y)
    if len(rows) < 2 or rows.sample_shape == ():
        raise ValueError(
            f"{type(estimator).__name__} needs at least 2 samples with at least one "
            f"feature each, but {type(dataset).__name__} has {len(rows)} with features "
            f"of shape {rows.sample_shape}."
        )
    _set_n_features(estimator, rows.sample_shape)
    return rows, y


def _n_inputs(estimator: Any) -> int | None:
    """Return of how many parts a tuple of features consisted in ``fit``."""
    shape = estimator.input_shape_
    if shape is None:
        return None
    return len(shape) if _is_tuple_of_parts(shape) else 1


def _is_tuple_of_parts(sample_shape: Any) -> bool:
    is_tuple = isinstance(sample_shape, tuple)
    return is_tuple and any(isinstance(part, tuple) for part in sample_shape)


def _set_n_features(estimator: Any, sample_shape: Any) -> None:
    for name in ("feature_names_in_", "n_features_in_"):
        vars(estimator).pop(name, None)
    if isinstance(sample_shape, tuple) and not _is_tuple_of_parts(sample_shape):
        estimator.n_features_in_ = sample_shape[0]


def has_several_parts(estimator: Any, X: Any, y: Any = None, *, reset: bool) -> bool:
    """Return whether ``X`` consists of several arrays, for several inputs of a module.

    A dict does. A tuple or list may also be a list of samples; in ``fit`` the number of
    labels tells which, afterwards what ``fit`` was given.
    """
    if isinstance(X, Mapping):
        return not sparse.issparse(X)  # the format DOK is a dict
    if not isinstance(X, (tuple, list)):
        return False
    if not reset:
        shape = estimator.input_shape_
        return isinstance(shape, Mapping) or _is_tuple_of_parts(shape)
    lengths = [next(iter(getattr(part, "shape", ())), None) for part in X]
    n_labels = None if y is None else len(y)
    return None not in (*lengths, n_labels) and len(X) != n_labels in lengths


def _check_parts(estimator: Any, X: Any, y: Any, *, reset: bool) -> Any:
    name = type(estimator).__name__
    named = dict(X.items() if isinstance(X, Mapping) else enumerate(X))
    kind = str if isinstance(X, Mapping) else int
    if not named or not all(isinstance(key, kind) for key in named):
        raise ValueError(
            f"{name} needs X as a dict to have names of arguments as keys, got the "
            f"keys {list(named)}. Name each part as forward() of the module does."
        )
    parts = {key: part_rows(key, part) for key, part in named.items()}
    lengths = {key: len(part) for key, part in parts.items()}
    if len(set(lengths.values())) > 1:
        raise ValueError(
            f"{name} needs parts of X with as many rows each, got {lengths}. Check how "
            "the parts were put together."
        )
    rows = PartsRows(parts if isinstance(X, Mapping) else tuple(parts.values()))
    if not reset:
        check_sample_shape(estimator, rows.sample_shape, "X")
        return rows
    if y is None:
        raise ValueError(f"{name} requires y to be passed, but the target y is None.")
    y = column_or_1d(y, warn=True)
    check_consistent_length(rows, y)
    _set_n_features(estimator, rows.sample_shape)
    return rows, y


def check_sample_shape(estimator: Any, got: Any, name: str) -> None:
    """Raise if samples have another shape than in ``fit``, as far as that is known."""
    expected = estimator.input_shape_
    if got != expected and None not in (got, expected):
        raise ValueError(
            f"{type(estimator).__name__} was given {name} with samples of shape {got}, "
            f"but fit() saw samples of shape {expected}. Use the same columns (or "
            "image size, or parts) as in training."
        )
