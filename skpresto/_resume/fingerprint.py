"""Digests of what a fit depends on, to notice that another one is resumed."""

import platform
import random
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import blake2b
from importlib.metadata import version
from typing import Any

import numpy as np
import torch
from sklearn.base import BaseEstimator
from torch import Tensor, nn

from skpresto._data.samples import SampleRows, TensorRows
from skpresto._training.request import FitRequest

#: Parameters that do not affect the result.
_WITHOUT_EFFECT = {"verbose"}
_PACKAGES = ("skpresto", "torch", "numpy", "scikit-learn", "skorch")
#: Rows of a memory map or Dataset that stand for all of them.
_N_ROWS_READ = 64


def fingerprint(estimator: Any, request: FitRequest) -> dict[str, str]:
    """Return one digest for each thing that a fit depends on, by its name."""
    params, data = estimator.get_params(deep=False), request.data
    labels = np.asarray(request.classes)
    return {
        "class": type(estimator).__name__,
        **{f"version of {name}": version(name) for name in _PACKAGES},
        "version of Python": platform.python_version(),
        **{
            f"parameter {name}": _digest(value)
            for name, value in sorted(params.items())
            if name not in _WITHOUT_EFFECT
        },
        "X": _digest_of_rows(data.X),
        "y": _digest(data.labels),
        "classes of y": _digest([labels.dtype.kind, *map(str, labels)]),
        "X_val": _digest_of_rows(data.X_valid),
        "y_val": _digest(data.valid_labels),
        "y_true": _digest(data.is_correct),
        "sample_weight": _digest(data.sample_weight),
    }


def changed(before: dict[str, str], now: dict[str, str]) -> list[str]:
    """Return the names of what differs between two fingerprints.

    Versions are not digests, and both are named.
    """
    names = [*before, *(name for name in now if name not in before)]
    differing = [name for name in names if before.get(name) != now.get(name)]
    return [
        f"{name} ({before.get(name)}, now {now.get(name)})"
        if name.startswith("version of ")
        else name
        for name in differing
    ]


def _digest_of_rows(X: SampleRows | None) -> str:
    """Return a digest of all rows in memory, or of some rows of what is read later."""
    if X is None:
        return _digest(X)
    if isinstance(X, TensorRows):
        return _digest(X.X)
    some = np.unique(np.linspace(0, len(X) - 1, _N_ROWS_READ).astype(np.int64))
    with _same_random_numbers():
        rows = [X.item(row) for row in some.tolist()]
    return _digest([type(X).__name__, len(X), rows])


@contextmanager
def _same_random_numbers() -> Iterator[None]:
    """Let a Dataset with random transforms give the same items in all processes."""
    of_numpy, of_python = np.random.get_state(), random.getstate()
    try:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(0)
            np.random.seed(0)
            random.seed(0)
            yield
    finally:
        np.random.set_state(of_numpy)
        random.setstate(of_python)


def _digest(value: Any) -> str:
    hasher = blake2b(digest_size=12)
    _feed(hasher, value)
    return hasher.hexdigest()


def _feed(hasher: Any, value: Any) -> None:
    """Add a value: arrays by content, classes and functions by name."""
    if isinstance(value, (Tensor, np.ndarray)):
        array = np.ascontiguousarray(torch.as_tensor(value).detach().cpu().numpy())
        hasher.update(f"{array.dtype}{array.shape}".encode())
        hasher.update(array.view(np.uint8).reshape(-1))
    elif (parts := _parts_of(value)) is not None:
        hasher.update(f"[{len(parts)}".encode())
        for part in parts:
            _feed(hasher, part)
    else:
        hasher.update(_text_of(value).encode())


def _parts_of(value: Any) -> list | tuple | None:
    """Return what a value consists of, None if it has no parts."""
    if isinstance(value, dict):
        return [part for item in value.items() for part in item]
    if isinstance(value, nn.Module):
        return [repr(value), dict(value.state_dict())]
    if isinstance(value, BaseEstimator):
        return [type(value).__name__, value.get_params()]
    return value if isinstance(value, (list, tuple)) else None


def _text_of(value: Any) -> str:
    if isinstance(value, (bool, int, float, str, bytes, type(None))):
        return repr(value)
    # Classes and functions have a name. Of callbacks and random generators only the
    # type counts: what they have collected does not matter, and seeds are stored.
    named = value if hasattr(value, "__qualname__") else type(value)
    return f"{named.__module__}.{named.__qualname__}"
