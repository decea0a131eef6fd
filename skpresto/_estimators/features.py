"""Validate ``X``: arrays, sparse matrices, datasets, and several of them together."""

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import check_array, check_consistent_length, column_or_1d
from sklearn.utils.validation import validate_data
from torch.utils.data import Dataset

from skpresto._engine.dataset_rows import DatasetRows, labels_of
from skpresto._engine.parts_rows import PartsRows
from skpresto._engine.sample_rows import ArrayRows, SampleRows, as_rows


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
    is_memmap = isinstance(X, np.memmap)
    settings = {
        "accept_sparse": "csr",
        "dtype": "numeric" if is_memmap else np.float32,
        "order": None if is_memmap else "C",
        "allow_nd": True,
        "reset": reset,
    }
    if not reset:
        X = validate_data(estimator, X, **settings)
        rows = _array_rows(X, is_memmap)
        check_sample_shape(estimator, rows.sample_shape, "X")
        return rows
    X, y = validate_data(estimator, X, y, ensure_min_samples=2, **settings)
    return _array_rows(X, is_memmap), y


def _array_rows(X: Any, is_memmap: bool) -> SampleRows:
    """Return the rows of a validated array or sparse matrix."""
    if is_memmap:
        _check_range(X)
        return as_rows(X)
    return as_rows(X if sparse.issparse(X) else _as_tensor(X))


def _as_tensor(X: NDArray) -> torch.Tensor:
    with warnings.catch_warnings():
        # The tensor is only read from, so a read-only array may stand behind it.
        warnings.filterwarnings("ignore", message="The given NumPy array is not writ")
        return torch.from_numpy(X)


def _check_range(X: NDArray) -> None:
    """Raise if a memory map holds what float32 cannot; reads it block by block."""
    limit = np.finfo(np.float32).max
    for start in range(0, len(X) if X.dtype == np.float64 else 0, 4096):
        if np.abs(X[start : start + 4096]).max() > limit:
            raise ValueError(
                "Input X contains infinity or a value too large for dtype('float32')."
            )


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
    parts = {key: _part_rows(key, part) for key, part in named.items()}
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


def _part_rows(key: Any, part: Any) -> SampleRows:
    """Return the rows of one part; floats become float32, integers stay integers."""
    name, is_memmap = f"X[{key!r}]", isinstance(part, np.memmap)
    if np.isscalar(part) or part is None:
        raise ValueError(
            f"{name} must be an array with a row per sample, got {part!r}."
        )
    try:
        part = check_array(
            part,
            accept_sparse="csr",
            dtype=None,
            ensure_2d=False,
            allow_nd=True,
            ensure_min_features=0,
            input_name=name,
        )
    except ValueError as error:
        if "inhomogeneous" not in str(error):
            raise
        raise ValueError(
            f"{name} has rows of different length. Pad them to one length (a tokenizer "
            "of transformers does so with padding=True)."
        ) from None
    if part.dtype.kind not in "fiub":
        raise ValueError(
            f"{name} must be numbers, got dtype {part.dtype}. Encode it first."
        )
    if sparse.issparse(part):
        return as_rows(part.astype(np.float32, copy=False))
    if is_memmap:
        return ArrayRows(part, keeps_integers=True)
    return as_rows(_as_tensor(part.astype(_part_type(part.dtype), copy=False)))


def _part_type(dtype: np.dtype) -> Any:
    if dtype.kind == "f":
        return np.float32
    is_known = dtype.kind in "ib" or dtype == np.uint8
    return dtype if is_known else np.int64  # torch computes with few unsigned types


def check_sample_shape(estimator: Any, got: Any, name: str) -> None:
    """Raise if samples have another shape than in ``fit``, as far as that is known."""
    expected = estimator.input_shape_
    if got != expected and None not in (got, expected):
        raise ValueError(
            f"{type(estimator).__name__} was given {name} with samples of shape {got}, "
            f"but fit() saw samples of shape {expected}. Use the same columns (or "
            "image size, or parts) as in training."
        )
