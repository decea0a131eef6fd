"""Run one cell: fit, and what came of it as one flat dict."""

import platform
import time
import warnings
from dataclasses import asdict
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
import torch
from cells import Cell, Setting
from contenders import (
    classifier_of,
    network_of,
    safe_mask_of,
    supervision,
    training_rows,
)
from data import Split, split_of
from skorch.callbacks import Callback

import skpresto
from skpresto import DefaultClassifier
from skpresto._training.batching import PredictionRows
from skpresto.metrics import memorization_precision, memorization_recall

PACKAGES = ("torch", "scikit-learn", "skorch", "numpy", "cleanlab")


class Watched:
    """Rows whose error is watched, and the time that watching has taken.

    Callbacks are copied with their classifier; the copies share this object, so that
    the rows are not copied and the time of all of them adds up.
    """

    def __init__(self, split: Split) -> None:
        self.rows = {
            "valid": (torch.from_numpy(split.X_val), split.y_val),
            "test": (torch.from_numpy(split.X_test), split.y_test),
        }
        self.seconds = 0.0

    def __deepcopy__(self, memo: dict) -> "Watched":
        return self


class ErrorCurve(Callback):
    """Write the clean validation and test error into skorch's history, every epoch.

    The history is cut where a network goes back to its stop point and begins anew with
    a new network, so at the end it holds the epochs of the final network only.
    """

    def __init__(self, watched: Watched | None) -> None:
        self.watched = watched

    def __sklearn_clone__(self) -> "ErrorCurve":
        # cleanlab clones a classifier for its folds, whose errors nobody asks for.
        return ErrorCurve(None)

    def on_epoch_end(self, net: Any, **kwargs: Any) -> None:
        """Measure in evaluation mode, which draws nothing and changes no statistics."""
        if self.watched is None:
            return
        started = time.perf_counter()
        for name, (X, y) in self.watched.rows.items():
            predicted = net.predicted_classes(PredictionRows(X)).cpu().numpy()
            net.history.record(f"watched_{name}", float(np.mean(predicted != y)))
        self.watched.seconds += time.perf_counter() - started


def measure(cell: Cell, setting: Setting) -> dict[str, Any]:
    """Return the results of one fit."""
    split = split_of(cell, setting)
    watched = Watched(split)
    classifier = classifier_of(cell, setting, split.noise_rate, [ErrorCurve(watched)])
    rows = training_rows(cell, split)
    _load_lazy_parts()
    started = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # an unsettled rule shows in stop_epoch
        classifier.fit(split.X[rows], split.y[rows], **supervision(cell, split))
    seconds = time.perf_counter() - started - watched.seconds
    return {
        **asdict(cell),
        **setting.fingerprint,
        "n_train": len(split.y),
        "noise_rate": split.noise_rate,
        **errors(classifier, split),
        **safe_set(safe_mask_of(cell, classifier), split),
        "stop_epoch": getattr(classifier, "stop_epoch_", None),
        "seconds": seconds,
        "versions": versions(),
    }


@cache
def _load_lazy_parts() -> None:
    """Let torch import what it imports at a first fit, outside of the time measured."""
    X = np.random.RandomState(0).normal(size=(20, 2)).astype(np.float32)
    DefaultClassifier(max_epochs=1, random_state=0).fit(X, np.arange(20) % 2)


def errors(fitted: Any, split: Split) -> dict[str, float]:
    """Return the test error at the last epoch, and at the best ones."""
    history = network_of(fitted).net_.history
    valid = history[:, "watched_valid"]
    test = history[:, "watched_test"]
    error = float(1 - fitted.score(split.X_test, split.y_test))
    if abs(error - test[-1]) > 1e-9:
        raise RuntimeError(
            f"The error of the last epoch was {test[-1]} while it was watched, and is "
            f"{error} by score()."
        )
    return {
        "error_last": test[-1],
        "error_best_validation": test[int(np.argmin(valid))],
        "error_best_test": min(test),
    }


def safe_set(mask: np.ndarray | None, split: Split) -> dict[str, float | None]:
    """Return how clean and how complete the trusted labels are, if that is known."""
    if mask is None or split.y_true is None:
        return {"safe_precision": None, "safe_recall": None}
    precision = memorization_precision(mask, split.y, split.y_true)
    return {
        "safe_precision": None if np.isnan(precision) else precision,
        "safe_recall": memorization_recall(mask, split.y, split.y_true),
    }


def versions() -> dict[str, str | None]:
    """Return what the numbers were made with."""
    own = {"python": platform.python_version(), "skpresto": skpresto.__version__}
    return own | {package: _version(package) for package in PACKAGES}


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:  # cleanlab is needed by one contender only
        return None
