"""Validated arrays, tensors and sparse matrices as rows to train on."""

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import assert_all_finite, check_array
from torch import Tensor

from skpresto._data.samples import ArrayRows, SampleRows, as_rows

#: Bytes of a memory map that are checked together.
_BYTES_CHECKED = 1 << 24


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
    return as_rows(X if sparse.issparse(X) else _as_tensor(X))


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
    return as_rows(part if sparse.issparse(part) else _as_tensor(part))


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


def _as_tensor(X: NDArray) -> Tensor:
    with warnings.catch_warnings():
        # The tensor is only read from, so a read-only array may stand behind it.
        warnings.filterwarnings("ignore", message="The given NumPy array is not writ")
        return torch.from_numpy(X)


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
