"""Fit one method and measure how well its scores separate wrong from correct labels."""

import time
import warnings
from collections.abc import Callable
from dataclasses import asdict, replace
from typing import Any

import accuracy_scripts  # noqa: F401
import numpy as np
from cells import Cell, Setting
from contenders import (
    CLEAN_LEARNING,
    CLEAN_SUBSET,
    DEFAULT_RULE,
    METHODS,
    classifier_of,
)
from data import Split, split_of
from measure import versions
from sklearn.metrics import average_precision_score, roc_auc_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict

CLEANLAB = "cleanlab"
#: Methods that can be run: those with fitted attributes of their own, and cleanlab.
SCORED_METHODS = (
    *(name for name in METHODS if name not in (CLEAN_SUBSET, CLEAN_LEARNING)),
    CLEANLAB,
)
#: Fitted attributes in which a low value stands for a label that is likely wrong.
ATTRIBUTES = ("label_agreement_", "label_quality_")
CLEANLAB_SCORES = (
    "self_confidence",
    "normalized_margin",
    "confidence_weighted_entropy",
)
N_FOLDS = 5

#: Qualities by name, each of shape (n_samples,).
Qualities = dict[str, np.ndarray]


def cell_for(method: str, data: str, noise: str, rate: float | None, seed: int) -> Cell:
    """Return the cell of a method as in the accuracy benchmark."""
    cell = Cell(method, data, noise, rate, seed)
    if method in METHODS and METHODS[method].takes_rule:
        return replace(cell, q=10, rule=DEFAULT_RULE)
    return cell


def measure(cell: Cell, setting: Setting) -> dict[str, Any]:
    """Return the results of one cell; true labels are only used to measure."""
    split = split_of(cell, setting)
    qualities_of: Callable[[Cell, Setting, Split], Qualities] = (
        cleanlab_qualities if cell.method == CLEANLAB else fitted_qualities
    )
    started = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # such as unsettled stop rules
        qualities = qualities_of(cell, setting, split)
    seconds = time.perf_counter() - started
    is_wrong = split.y != split.y_true
    return {
        **asdict(cell),
        **setting.fingerprint,
        "n_train": len(split.y),
        "noise_rate": split.noise_rate,
        "scores": {name: detection(q, is_wrong) for name, q in qualities.items()},
        "seconds": seconds,
        "versions": versions(),
    }


def fitted_qualities(cell: Cell, setting: Setting, split: Split) -> Qualities:
    """Return the fitted attributes of a classifier that was trained on all rows."""
    classifier = classifier_of(cell, setting, split.noise_rate, callbacks=[])
    classifier.fit(split.X, split.y)
    return {name: getattr(classifier, name) for name in ATTRIBUTES}


def cleanlab_qualities(cell: Cell, setting: Setting, split: Split) -> Qualities:
    """Return cleanlab's scores from out-of-fold probabilities of plain networks."""
    from cleanlab.rank import get_label_quality_scores  # only this method needs it

    network = replace(cell, method="Default")
    probabilities = cross_val_predict(
        classifier_of(network, setting, split.noise_rate, callbacks=[]),
        split.X,
        split.y,
        cv=StratifiedKFold(N_FOLDS, shuffle=True, random_state=cell.seed),
        method="predict_proba",
    )
    labels = np.unique(split.y, return_inverse=True)[1]
    return {
        score: get_label_quality_scores(
            labels,
            probabilities,
            method=score,
            adjust_pred_probs=False,
        )
        for score in CLEANLAB_SCORES
    }


def detection(quality: np.ndarray, is_wrong: np.ndarray) -> dict[str, float]:
    """Return average precision and AUROC of finding wrong labels by low quality.

    Examples
    --------
    >>> quality = np.array([0.9, 0.2, 0.8, 0.1])
    >>> detection(quality, is_wrong=np.array([False, True, False, True]))
    {'average_precision': 1.0, 'auroc': 1.0}
    """
    suspicion = 1 - np.asarray(quality, dtype=np.float64)
    return {
        "average_precision": float(average_precision_score(is_wrong, suspicion)),
        "auroc": float(roc_auc_score(is_wrong, suspicion)),
    }
