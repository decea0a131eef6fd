"""Fit one cell and return its results: accuracy, cost, or quality of label scores."""

import platform
import warnings
from dataclasses import asdict, replace
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
import torch
from cells import Cell, Setting
from changed_params import changed_params
from classifiers import (
    classifier_of,
    label_quality_of,
    network_of,
    safe_mask_of,
)
from contenders import CLEAN_LEARNING, DEFAULT, METHODS, supervision, training_rows
from data import Split, split_of
from plain_scores import with_scores
from ranking import ranking, ranking_or_none
from skorch.callbacks import Callback
from stopwatch import Stopwatch

import skpresto
from skpresto import DefaultClassifier
from skpresto.metrics import memorization_precision, memorization_recall

PACKAGES = ("torch", "scikit-learn", "skorch", "numpy", "cleanlab")
#: Fitted attributes in which a low value stands for a label that is likely wrong.
LABEL_SCORES = ("label_agreement_", "label_quality_")
#: Fits of a method by which its cost is measured.
N_REPEATS = 2


class Watched:
    """Rows whose error is recorded in every epoch, and the time that this has taken.

    Copies of a callback share this object, so that rows are not copied and
    ``stopwatch`` has the sum over all of them.
    """

    def __init__(self, split: Split) -> None:
        self.rows = {
            "valid": (torch.from_numpy(split.X_val), split.y_val),
            "test": (torch.from_numpy(split.X_test), split.y_test),
        }
        self.stopwatch = Stopwatch()

    def __deepcopy__(self, memo: dict) -> "Watched":
        return self


class ErrorCurve(Callback):
    """Write the validation and test error of every epoch into skorch's history.

    The history has one row per epoch of all stages, as ``history_`` of the classifier.
    """

    def __init__(self, watched: Watched | None) -> None:
        self.watched = watched

    def __sklearn_clone__(self) -> "ErrorCurve":
        # The errors of the networks of a cross-validation are not reported.
        return ErrorCurve(None)

    def on_epoch_end(self, net: Any, **kwargs: Any) -> None:
        """Record the errors in evaluation mode, which does not affect the training."""
        if self.watched is None:
            return
        # A DataLoader draws a random number.
        with self.watched.stopwatch, torch.random.fork_rng():
            for name, (X, y) in self.watched.rows.items():
                error = float(np.mean(net.predict(X) != y))
                net.history.record(f"watched_{name}", error)


def measure(cell: Cell, setting: Setting) -> dict[str, Any]:
    """Fit the classifier of a cell and return its results."""
    split = split_of(cell, setting)
    watched = Watched(split)
    classifier = classifier_of(cell, setting, split.noise_rate, [ErrorCurve(watched)])
    params = changed_params(classifier)
    if cell.method == DEFAULT:
        classifier = with_scores(classifier, watched.stopwatch)
    fit = timed_fit(classifier, cell, split)
    quality = label_quality_of(cell, classifier)
    return {
        **asdict(cell),
        **setting.fingerprint,
        "params": params,
        "n_train": len(split.y),
        "noise_rate": split.noise_rate,
        **errors(cell.method, classifier, split),
        **safe_set(safe_mask_of(cell, classifier), split),
        **ranking_or_none(quality, split.y, split.y_true),
        "scores": further_scores(classifier, split),
        "stop_epoch": getattr(network_of(classifier), "stop_epoch_", None),
        "seconds": fit.seconds - watched.stopwatch.seconds,
        "cpu_seconds": fit.cpu_seconds - watched.stopwatch.cpu_seconds,
        "versions": versions(),
    }


def measure_cost(cell: Cell, setting: Setting) -> dict[str, Any]:
    """Return the CPU time of a method and of Default, fitted in turn.

    ``cost`` is the ratio of the shorter times of both: other processes and a
    processor that slows down make a fit longer, never shorter.
    """
    split = split_of(cell, setting)
    plain = replace(cell, method=DEFAULT, q=None, rule=None)
    times: dict[Cell, list[float]] = {plain: [], cell: []}
    for _ in range(N_REPEATS):
        for each, measured in times.items():
            classifier = classifier_of(each, setting, split.noise_rate, callbacks=[])
            measured.append(timed_fit(classifier, each, split).cpu_seconds)
    return {
        **asdict(cell),
        **setting.fingerprint,
        "default_cpu_seconds": times[plain],
        "cpu_seconds": times[cell],
        "cost": min(times[cell]) / min(times[plain]),
        "versions": versions(),
    }


def measure_quality(cell: Cell, setting: Setting) -> dict[str, Any]:
    """Return how well wrong labels are found by each score of a fit.

    The scores are the fitted attributes, and those of other authors that the same fit
    gives: for Default those of :mod:`plain_scores`, and cleanlab's for CleanLearning.
    """
    split = split_of(cell, setting)
    classifier = classifier_of(cell, setting, split.noise_rate, callbacks=[])
    if cell.method == DEFAULT:
        classifier = with_scores(classifier, Stopwatch())
    fit = timed_fit(classifier, cell, split)
    names = () if cell.method == CLEAN_LEARNING else LABEL_SCORES
    scores = {name: getattr(classifier, name) for name in names}
    scores |= getattr(classifier, "scores_", {})
    is_wrong = split.y != split.y_true
    return {
        **asdict(cell),
        **setting.fingerprint,
        "n_train": len(split.y),
        "noise_rate": split.noise_rate,
        "scores": {n: ranking(q, split.y, is_wrong) for n, q in scores.items()},
        "seconds": fit.seconds,
        "versions": versions(),
    }


def timed_fit(classifier: Any, cell: Cell, split: Split) -> Stopwatch:
    """Fit the classifier of a cell and return the time that it took."""
    rows = training_rows(cell, split)
    _load_lazy_parts()
    fit = Stopwatch()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # see stop_epoch for unsettled rules
        with fit:
            classifier.fit(split.X[rows], split.y[rows], **supervision(cell, split))
    return fit


@cache
def _load_lazy_parts() -> None:
    """Run a first fit, so that torch's lazy imports are not part of the time."""
    X = np.random.RandomState(0).normal(size=(20, 2)).astype(np.float32)
    DefaultClassifier(max_epochs=1, random_state=0).fit(X, np.arange(20) % 2)


def errors(method: str, fitted: Any, split: Split) -> dict[str, float | None]:
    """Return the test error of the last epoch and, if recorded, of the best epochs."""
    error = float(1 - fitted.score(split.X_test, split.y_test))
    classifier = network_of(fitted)
    if classifier is None or not METHODS[method].has_curve:
        best = {"error_best_validation": None, "error_best_test": None}
        return {"error_last": error, **best}
    kept = epochs_of_final_networks(classifier)
    history = classifier.net_.history
    valid = [history[row, "watched_valid"] for row in kept]
    test = [history[row, "watched_test"] for row in kept]
    if abs(error - test[-1]) > 1e-9:
        raise RuntimeError(
            f"The recorded test error of the last epoch, {test[-1]}, must be that of "
            f"score(), {error}: the history is not that of the networks that predict."
        )
    return {
        "error_last": test[-1],
        "error_best_validation": test[int(np.argmin(valid))],
        "error_best_test": min(test),
    }


def epochs_of_final_networks(classifier: Any) -> list[int]:
    """Return the rows of the history that led to the networks that predict.

    Epochs beyond the stop point are undone; earlier stages belong to other networks.
    """
    records = classifier.history_
    last = records[-1].stage
    before = last.replace("phase 2", "phase 1")
    stop_epoch = getattr(classifier, "stop_epoch_", 0)
    return [
        row
        for row, record in enumerate(records)
        if (record.stage == last and not last.endswith("phase 1"))
        or (
            record.stage == before
            and before.endswith("phase 1")
            and record.epoch <= stop_epoch
        )
    ]


def safe_set(mask: np.ndarray | None, split: Split) -> dict[str, float | None]:
    """Return precision and recall of the accepted labels, if true labels are known."""
    if mask is None or split.y_true is None:
        return {"safe_precision": None, "safe_recall": None}
    precision = memorization_precision(mask, split.y, split.y_true)
    return {
        "safe_precision": None if np.isnan(precision) else precision,
        "safe_recall": memorization_recall(mask, split.y, split.y_true),
    }


def further_scores(fitted: Any, split: Split) -> dict[str, dict[str, float | None]]:
    """Return the metrics of further label quality scores of the same fit, by name."""
    scores = getattr(fitted, "scores_", {})
    found = {n: ranking_or_none(q, split.y, split.y_true) for n, q in scores.items()}
    return {name: metrics for name, metrics in found.items() if any(metrics.values())}


def versions() -> dict[str, str | None]:
    """Return the versions of the libraries."""
    own = {"python": platform.python_version(), "skpresto": skpresto.__version__}
    return own | {package: _version(package) for package in PACKAGES}


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:  # only CleanLearning needs cleanlab
        return None
