"""What a fit depends on, to notice that another one is resumed."""

import platform
import random
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

import numpy as np
import torch

from skpresto._data.dataset import DatasetRows
from skpresto._data.parts import PartsRows
from skpresto._data.samples import SampleRows, SparseRows
from skpresto._device import kept_random_states
from skpresto._resume.by_value import described
from skpresto._resume.description import DIGEST, Description, name_of
from skpresto._resume.installed import version_of
from skpresto._training.request import FitRequest
from skpresto._training.torch_state import n_threads_of

#: Parameters without effect, and one whose effect is a setting: the number of threads.
_NOT_COMPARED = ("verbose", "n_jobs")
#: Parameters from which random numbers are drawn between stages of training only, and
#: so again when a fit is resumed. What stages draw from other generators is not stored.
_DRAWN_AGAIN = ("random_state", "cv")
_PACKAGES = ("torch", "numpy", "scikit-learn", "skorch")
#: Items of a Dataset that are compared, beside its attributes.
_N_ITEMS_READ = 64
#: Differences that a message names.
_N_NAMED = 8


@dataclass(frozen=True)
class Fingerprint:
    """What a fit depends on.

    Parameters
    ----------
    entries : dict of str
        Texts by name, such as ``parameter lr``.
    unknown : list of str
        Names of what cannot be compared by value, each with its class.
    generators : list of str
        Names of the user's random generators that stages of training draw from.
    """

    entries: dict[str, str]
    unknown: list[str]
    generators: list[str]


def fingerprint(estimator: Any, request: FitRequest) -> Fingerprint:
    """Return what a fit depends on: class, parameters, data, versions and settings."""
    parts = [described(type(estimator), "class")]
    for name, value in sorted(estimator.get_params(deep=False).items()):
        if name not in _NOT_COMPARED:
            parts.append(_described_parameter(name, value))
    of_sklearn = getattr(estimator, "_skl_callbacks", None) or ()
    parts.extend(map(_described_callback, of_sklearn))
    data, labels = request.data, np.asarray(request.classes)
    parts += _described_rows(data.X, "X")
    parts.append(described(data.labels, "y"))
    parts.append(described([labels.dtype.kind, *map(str, labels)], "classes of y"))
    parts += _described_rows(data.X_valid, "X_val")
    parts.append(described(data.valid_labels, "y_val"))
    parts.append(described(data.is_correct, "y_true"))
    parts.append(described(data.sample_weight, "sample_weight"))
    parts.append(described(request.pred_proba, "pred_proba"))
    found = Description()
    for part in parts:
        found.texts.update(part.texts)
        found.include(part)
    entries = {**found.texts, **_versions(found.packages), **_settings(estimator)}
    return Fingerprint(entries, found.unknown, found.generators)


def _described_parameter(name: str, value: Any) -> Description:
    if name == "class_weight" and isinstance(value, dict):
        value = dict(sorted(value.items(), key=repr))  # its order has no meaning
    found = described(value, f"parameter {name}")
    if name in _DRAWN_AGAIN:
        found.generators.clear()
    return found


def _described_callback(callback: Any) -> Description:
    """Describe a callback of scikit-learn; its own ones only show what happens."""
    kind = type(callback)
    is_of_sklearn = name_of(kind).startswith("sklearn.")
    return described(kind if is_of_sklearn else callback, f"callback {kind.__name__}")


def _described_rows(X: SampleRows | None, place: str) -> Iterator[Description]:
    """Describe samples: all values of arrays, the attributes and items of a Dataset."""
    if isinstance(X, PartsRows):
        is_dict = isinstance(X.parts, Mapping)
        named = X.parts if isinstance(X.parts, Mapping) else dict(enumerate(X.parts))
        yield described("dict" if is_dict else "tuple", place)
        for name, part in sorted(named.items()):
            yield from _described_rows(part, f"{place}[{name!r}]")
    elif isinstance(X, SparseRows):
        parts = X.source.shape, X.source.data, X.source.indices, X.source.indptr
        yield described(parts, place)
    elif isinstance(X, DatasetRows):
        yield (whole := described(X.source, place, reads_files=True))
        if not whole.generators:
            yield _described_items(X, f"{place}: items")
    else:
        yield described(None if X is None else X.source, place)


def _described_items(X: DatasetRows, place: str) -> Description:
    some = np.unique(np.linspace(0, len(X) - 1, _N_ITEMS_READ).astype(np.int64))
    with _same_random_numbers():
        return described([len(X), *(X.item(row) for row in some.tolist())], place)


@contextmanager
def _same_random_numbers() -> Iterator[None]:
    """Let a Dataset with random transforms give the same items in all processes."""
    of_numpy, of_python = np.random.get_state(), random.getstate()
    try:
        with kept_random_states(seed=0):
            np.random.seed(0)
            random.seed(0)
            yield
    finally:
        np.random.set_state(of_numpy)
        random.setstate(of_python)


def _versions(packages: set[str]) -> dict[str, str]:
    """Return versions of what every fit uses, and of packages that were found."""
    versions = {name: version(name) for name in _PACKAGES}
    for package in ("skpresto", *sorted(packages - {"sklearn", "skpresto", *versions})):
        if (found := version_of(package)) is not None:
            versions[package] = found
    named = {f"version of {name}": found for name, found in versions.items()}
    return {**named, "version of Python": platform.python_version()}


def _settings(estimator: Any) -> dict[str, str]:
    """Return settings of the process that change the bits of a result."""
    return {
        "threads": str(n_threads_of(estimator.n_jobs)),
        "default type of torch": str(torch.get_default_dtype()),
        "default device of torch": str(torch.get_default_device()),
        "precision of products": torch.get_float32_matmul_precision(),
        "deterministic algorithms": str(torch.are_deterministic_algorithms_enabled()),
    }


def machine() -> dict[str, str]:
    """Return what of the machine changes the last bits of a result."""
    on_gpu = torch.cuda.is_available()
    return {
        "processor": f"{platform.machine()} {torch.backends.cpu.get_cpu_capability()}",
        "GPU": torch.cuda.get_device_name() if on_gpu else "none",
    }


def changed(
    before: dict[str, str], now: dict[str, str], between: str = ", now "
) -> list[str]:
    """Return the names of what differs between two fingerprints, with both texts.

    If an object is of another class, its attributes are not named.
    """
    found: dict[str, str] = {}
    for name in dict.fromkeys((*before, *now)):
        texts = before.get(name, "none"), now.get(name, "none")
        inside = any(name.startswith((f"{n}.", f"{n}[", f"{n}:")) for n in found)
        if texts[0] == texts[1] or inside:
            continue
        first, second = (_without_digest(text) for text in texts)
        found[name] = f"{name} ({first}{between}{second})" if first != second else name
    named = list(found.values())
    n_more = len(named) - _N_NAMED
    return [*named[:_N_NAMED], f"{n_more} more"] if n_more > 1 else named


def _without_digest(text: str) -> str:
    """Return what of a text people read: of classes the name without the module."""
    text = text.partition(DIGEST)[0]
    is_name = all(part.isidentifier() for part in text.split("."))
    return text.rpartition(".")[2] if is_name else text
