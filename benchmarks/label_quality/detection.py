"""Fit one method and measure how well its scores separate wrong from correct labels."""

import time
import warnings
from collections.abc import Callable
from dataclasses import asdict, replace
from typing import Any

import accuracy_scripts  # noqa: F401
import numpy as np
from cells import Cell, Setting
from classifiers import classifier_of
from contenders import (
    CLEAN_SUBSET,
    DEFAULT,
    DEFAULT_RULE,
    METHODS,
    Method,
    supervision,
)
from data import Split, split_of
from measure import versions
from out_of_fold import cleanlab_qualities, out_of_fold_probabilities
from plain_scores import with_scores
from ranking import ranking
from stopwatch import Stopwatch

CLEANLAB = "cleanlab"


def _has_label_quality(name: str, method: Method) -> bool:
    is_single_fit = not method.is_cleaned and method.n_members == 1
    return method.is_network and is_single_fit and name != CLEAN_SUBSET


#: Methods that can be run: those with fitted attributes of their own, and cleanlab.
SCORED_METHODS = (
    *(name for name, method in METHODS.items() if _has_label_quality(name, method)),
    CLEANLAB,
)
#: Fitted attributes in which a low value stands for a label that is likely wrong.
ATTRIBUTES = ("label_agreement_", "label_quality_")

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
        qualities_of_cleanlab if cell.method == CLEANLAB else fitted_qualities
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
        "scores": {n: ranking(q, split.y, is_wrong) for n, q in qualities.items()},
        "seconds": seconds,
        "versions": versions(),
    }


def fitted_qualities(cell: Cell, setting: Setting, split: Split) -> Qualities:
    """Return the fitted attributes of a classifier that was trained on all rows.

    For Default, also the scores of other authors.
    """
    classifier = classifier_of(cell, setting, split.noise_rate, callbacks=[])
    if cell.method == DEFAULT:
        classifier = with_scores(classifier, Stopwatch())
    classifier.fit(split.X, split.y, **supervision(cell, split))
    found = {name: getattr(classifier, name) for name in ATTRIBUTES}
    return {**found, **getattr(classifier, "scores_", {})}


def qualities_of_cleanlab(cell: Cell, setting: Setting, split: Split) -> Qualities:
    """Return cleanlab's scores from out-of-fold probabilities of plain networks."""
    network = replace(cell, method=DEFAULT)
    classifier = classifier_of(network, setting, split.noise_rate, callbacks=[])
    probabilities = out_of_fold_probabilities(classifier, split.X, split.y, cell.seed)
    return cleanlab_qualities(split.y, probabilities)
