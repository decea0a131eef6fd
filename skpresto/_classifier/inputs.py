"""Validate ``X``: arrays, sparse matrices, datasets, and several of them together."""

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from scipy import sparse
from sklearn.utils import (
    assert_all_finite,
    check_array,
    check_consistent_length,
    column_or_1d,
)
from sklearn.utils.validation import validate_data
from torch import Tensor
from torch.utils.data import Dataset

from skpresto._data.dataset import DatasetRows, labels_of
from skpresto._data.parts import PartsRows
from skpresto._data.samples import ArrayRows, SampleRows, SparseRows, TensorRows
from skpresto._numeric import numbers_expected

#: Bytes of a memory map that are checked together.
_BYTES_CHECKED = 1 << 24


def check_training_rows(estimator: Any, X: Any, y: Any) -> tuple[SampleRows, Any]:
    """Validate ``X`` and ``y`` of ``fit``, as float32 without needless copies.

    A memory map keeps its type, so that it can be read batch by batch, and a sparse
    matrix is converted to CSR. The items of a torch ``Dataset`` are read when needed;
    its labels are read if ``y`` is None. scikit-learn's validation sets
    ``n_features_in_`` and ``feature_names_in_`` of the estimator.
    """
    name = type(estimator).__name__
    if isinstance(X, Dataset):
        rows: SampleRows = _dataset_rows(estimator, X, None)
        y = labels_of(X) if y is None else y
    elif _has_parts(X, y):
        rows = _parts_rows(estimator, X)
    else:
        X, is_memmap = without_tensor(X), isinstance(X, np.memmap)
        with numbers_expected(name, X):
            X, y = validate_data(
                estimator, X, y, ensure_min_samples=2, **_settings(is_memmap)
            )
        return array_rows(X, is_memmap, name), y
    if y is None:
        raise ValueError(f"{name} requires y to be passed, but the target y is None.")
    y = column_or_1d(y, warn=True)
    check_consistent_length(rows, y)
    if isinstance(X, Dataset) and (len(rows) < 2 or rows.sample_shape == ()):
        raise ValueError(
            f"{name} needs at least 2 samples with at least one feature each, but "
            f"{type(X).__name__} has {len(rows)} with features of shape "
            f"{rows.sample_shape}."
        )
    if isinstance(rows.sample_shape, tuple) and not _is_tuple_of_parts(
        rows.sample_shape
    ):
        estimator.n_features_in_ = rows.sample_shape[0]
    return rows, y


def check_rows(estimator: Any, X: Any, input_shape: Any) -> SampleRows:
    """Validate samples other than those to train on, whose shape must be the same."""
    if isinstance(X, Dataset):
        rows: SampleRows = _dataset_rows(estimator, X, _n_inputs(input_shape))
    elif is_of_several_parts(X, input_shape):
        rows = _parts_rows(estimator, X)
    else:
        X, is_memmap = without_tensor(X), isinstance(X, np.memmap)
        with numbers_expected(type(estimator).__name__, X):
            X = validate_data(estimator, X, reset=False, **_settings(is_memmap))
        rows = array_rows(X, is_memmap, type(estimator).__name__)
    check_sample_shape(estimator, rows.sample_shape, input_shape, "X")
    return rows


def _settings(is_memmap: bool) -> dict[str, Any]:
    """Return what scikit-learn's validation is asked for."""
    return {
        "accept_sparse": "csr",
        "dtype": "numeric" if is_memmap else np.float32,
        "order": None if is_memmap else "C",
        "ensure_all_finite": not is_memmap,  # checked block by block
        "allow_nd": True,
    }


def _dataset_rows(estimator: Any, dataset: Dataset, n_inputs: int | None) -> Any:
    iterators = ("iterator_train__collate_fn", "iterator_valid__collate_fn")
    params = estimator.get_params(deep=False)
    is_collated = all(params.get(name) is not None for name in iterators)
    return DatasetRows(dataset, n_inputs=n_inputs, is_collated=is_collated)


def _n_inputs(input_shape: Any) -> int | None:
    """Return of how many parts a tuple of features consisted in ``fit``."""
    if input_shape is None:
        return None
    return len(input_shape) if _is_tuple_of_parts(input_shape) else 1


def _is_tuple_of_parts(sample_shape: Any) -> bool:
    is_tuple = isinstance(sample_shape, tuple)
    return is_tuple and any(isinstance(part, tuple) for part in sample_shape)


def _has_parts(X: Any, y: Any) -> bool:
    """Return whether ``X`` of ``fit`` has several arrays, for the inputs of a module.

    A dict does. A tuple or list may also be a list of samples; the number of labels
    tells which.
    """
    if isinstance(X, Mapping):
        return not sparse.issparse(X)  # the format DOK is a dict
    if not isinstance(X, (tuple, list)):
        return False
    lengths = [next(iter(getattr(part, "shape", ())), None) for part in X]
    n_labels = None if y is None else len(y)
    return None not in (*lengths, n_labels) and len(X) != n_labels in lengths


def is_of_several_parts(X: Any, input_shape: Any) -> bool:
    """Return whether ``X`` has several arrays, as that of ``fit``."""
    if isinstance(X, Mapping):
        return not sparse.issparse(X)
    is_sequence = isinstance(X, (tuple, list))
    return is_sequence and (
        isinstance(input_shape, Mapping) or _is_tuple_of_parts(input_shape)
    )


def _parts_rows(estimator: Any, X: Any) -> PartsRows:
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
    return PartsRows(parts if isinstance(X, Mapping) else tuple(parts.values()))


def check_sample_shape(estimator: Any, got: Any, input_shape: Any, name: str) -> None:
    """Raise if samples have another shape than in ``fit``, as far as that is known."""
    if got != input_shape and None not in (got, input_shape):
        raise ValueError(
            f"{type(estimator).__name__} was given {name} with samples of shape {got}, "
            f"but fit() saw samples of shape {input_shape}. Use the same columns (or "
            "image size, or parts) as in training."
        )


def without_tensor(X: Any, name: str = "X") -> Any:
    """Return a tensor as an array, and anything else as it is."""
    if not isinstance(X, Tensor):
        return X
    if X.layout is not torch.strided:
        raise TypeError(
            f"{name} is a sparse tensor of torch, of which rows cannot be taken. Pass "
            "a sparse matrix of scipy, or X.to_dense()."
        )
    X = X.detach().cpu()
    return (X.float() if X.dtype == torch.bfloat16 else X).numpy()


def array_rows(X: Any, is_memmap: bool, estimator: str) -> SampleRows:
    """Return the rows of a validated array or sparse matrix."""
    if is_memmap:
        rows = ArrayRows(X)
        check_values(rows, "X", estimator)
        return rows
    return _rows_in_memory(X)


def part_rows(key: Any, part: Any) -> SampleRows:
    """Return the rows of one of several arrays that ``X`` consists of.

    Floating-point numbers become float32; integers stay integers, since they may be
    numbers of words or categories.
    """
    name, is_memmap = f"X[{key!r}]", isinstance(part, np.memmap)
    part = _checked_part(without_tensor(part, name), name, is_memmap)
    if is_memmap:
        rows = ArrayRows(part, keeps_integers=True)
        check_values(rows, name)
        return rows
    with np.errstate(over="ignore", invalid="ignore"):
        part = part.astype(_part_type(part), copy=False)
        # Once more: what is too large for float32 became infinite.
        assert_all_finite(part, input_name=name)
    return _rows_in_memory(part)


def _checked_part(part: Any, name: str, is_memmap: bool) -> Any:
    is_nested = isinstance(part, Mapping) and not sparse.issparse(part)
    if np.isscalar(part) or part is None or is_nested:
        kind = type(part).__name__
        raise TypeError(f"{name} must be an array with a row per sample, got a {kind}.")
    settings: dict[str, Any] = {"accept_sparse": "csr", "allow_nd": True, "dtype": None}
    settings |= {"ensure_2d": False, "ensure_min_features": 0, "input_name": name}
    settings["ensure_all_finite"] = not is_memmap  # checked block by block
    try:
        part = check_array(part, **settings)
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
    return part


def _part_type(part: Any) -> Any:
    kind = part.dtype.kind
    if kind == "f" or sparse.issparse(part):
        return np.float32
    is_known = kind in "ib" or part.dtype == np.uint8
    return part.dtype if is_known else np.int64  # torch has few unsigned types


def _rows_in_memory(X: Any) -> SampleRows:
    if sparse.issparse(X):
        return SparseRows(X)
    with warnings.catch_warnings():
        # The tensor is only read from, so a read-only array may stand behind it.
        warnings.filterwarnings("ignore", message="The given NumPy array is not writ")
        return TensorRows(torch.from_numpy(X))


def check_values(rows: ArrayRows, name: str, estimator: str = "") -> None:
    """Raise if a memory map holds what float32 cannot; reads it block by block."""
    X = rows.source
    if X.dtype.kind != "f":
        return
    limit = np.finfo(np.float32).max
    n_rows = max(1, _BYTES_CHECKED * len(X) // max(1, X.nbytes))
    for start in range(0, len(X), n_rows):
        block = rows.read(start, start + n_rows)
        assert_all_finite(block, estimator_name=estimator or None, input_name=name)
        if X.dtype.itemsize > 4 and np.abs(block).max(initial=0) > limit:
            raise ValueError(
                f"Input {name} contains infinity or a value too large for "
                "dtype('float32')."
            )
