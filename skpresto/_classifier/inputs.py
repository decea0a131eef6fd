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
from skpresto._data.samples import SampleRows
from skpresto._numeric import numbers_expected


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
