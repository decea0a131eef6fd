"""The audits of the benchmark: labels of which some are wrong, and what assesses them.

What takes long is stored in a folder, so that reports can be measured again without it.
"""

import time
import warnings
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
from labelled_sets import CLEAN, FITTED, HELD_OUT, HUMAN, noisy_labels, true_set
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.neural_network import MLPClassifier

from skpresto._label_quality.choice import (
    candidates_for,
    draw_comparison,
    likeliest,
)
from skpresto._label_quality.findings import LabelFindings
from skpresto._label_quality.planted import PlantedErrors
from skpresto._label_quality.rounds import RoundsAssessment
from skpresto.audit import LabelReport
from skpresto.audit._fit import audit_estimator
from skpresto.audit._from_classifier import fields_of_rounds

#: Classifiers whose out-of-fold probabilities are assessed.
READY = {
    "linear": lambda: LogisticRegression(C=0.3, max_iter=200),
    "forest": lambda: RandomForestClassifier(100, oob_score=True, random_state=0),
    "boosting": lambda: HistGradientBoostingClassifier(max_iter=40, random_state=0),
    "network": lambda: MLPClassifier((64,), max_iter=40, random_state=0),
}
#: Modes of the audit itself, and whether they are quick.
AUDITS = {"quick": True, "default": False}
#: Kinds of evidence, each with constants of its own, and the modes that have it.
KINDS = {
    "ready": tuple(READY),
    "rounds": ("rounds",),
    **{mode: (mode,) for mode in AUDITS},
}
#: Audits of each set that constants are fitted on.
N_PER_FITTED_SET = {"ready": 26, "rounds": 4, "quick": 6, "default": 3}
#: Boosting takes long with more classes.
MOST_CLASSES_OF_BOOSTING = 6
#: Networks take long, too.
MOST_ROWS_OF_NETWORKS = 1000
#: Kinds of noise in turn, and rates of each.
AMOUNTS = (0.02, 0.05, 0.1, 0.2, 0.3, 0.4)


@dataclass(frozen=True)
class Audit:
    """One audit: mode, data set, noise, its rate (None if it is real) and seed."""

    mode: str
    data: str
    noise: str
    rate: float | None
    seed: int

    @property
    def name(self) -> str:
        """The audit as the name of a file."""
        rate = "" if self.rate is None else f"-{self.rate}"
        return f"{self.mode}-{self.data}-{self.noise}{rate}-{self.seed}"


def audits_of(modes: tuple[str, ...], is_held_out: bool, n_per_set: int) -> list[Audit]:
    """Return audits of each data set: clean labels, human ones, and injected noise.

    Modes, kinds of noise and rates go round, so that all of them are combined over the
    data sets, though not on each.
    """
    chosen = []
    turn_of_mode = cycle(modes)
    turns = cycle(
        (noise, rate)
        for step in range(len(AMOUNTS))
        for noise, rate in zip(
            NOISE_ORDER, AMOUNTS[step:] + AMOUNTS[:step], strict=False
        )
    )
    for data in HELD_OUT if is_held_out else FITTED:
        real = [(CLEAN, None), *((name, None) for name in HUMAN.get(data, ()))]
        injected = [next(turns) for _ in range(max(0, n_per_set - len(real)))]
        for noise, rate in [*real, *injected]:
            mode = next(turn_of_mode)
            if mode == "boosting" and _n_classes(data) > MOST_CLASSES_OF_BOOSTING:
                mode = "forest"
            chosen.append(Audit(mode, data, noise, rate, seed=len(chosen)))
    return chosen


NOISE_ORDER = ("symmetric", "boundary", "pair", "near", "instance")


def _n_classes(data: str) -> int:
    return int(true_set(data).y.max()) + 1


def fitted(audit: Audit, folder: Path) -> dict[str, Any]:
    """Return what an audit found out, from the folder if it is stored there."""
    path = folder / f"{audit.name}.npz"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        found = _fit(audit)
        unfinished = path.with_suffix(".unfinished.npz")
        np.savez_compressed(unfinished, **found)
        unfinished.rename(path)
    with np.load(path) as stored:
        return dict(stored)


def _fit(audit: Audit) -> dict[str, Any]:
    X, given, true = labelled_rows(audit)
    started = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # such as unsettled stop rules
        find = _rounds if audit.mode == "rounds" else _probability
        find = _findings if audit.mode in AUDITS else find
        found = find(audit.mode, X, given)
    seconds = time.process_time() - started
    return {"given": given, "true": true, "seconds": seconds, **found}


def labelled_rows(audit: Audit) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return samples, given labels and true labels; fewer of them for networks."""
    n = MOST_ROWS_OF_NETWORKS if audit.mode in AUDITS else None
    given = noisy_labels(audit.data, audit.noise, audit.rate, audit.seed)[:n]
    return true_set(audit.data).X[:n], given, true_set(audit.data).y[:n]


def _probability(mode: str, X: np.ndarray, y: np.ndarray) -> dict[str, Any]:
    classifier = READY[mode]()
    if mode == "forest":  # the trees that did not see a row have no need of folds
        probability = classifier.fit(X, y).oob_decision_function_
    else:
        folds = StratifiedKFold(4, shuffle=True, random_state=0)
        probability = cross_val_predict(
            classifier, X, y, cv=folds, method="predict_proba"
        )
    return {"probability": probability.astype(np.float32)}


def _findings(mode: str, X: np.ndarray, y: np.ndarray) -> dict[str, Any]:
    """Return what a classifier found out about its training labels."""
    classifier = audit_estimator(len(y), quick=AUDITS[mode]).fit(X, y)
    findings = classifier.label_findings_
    errors = [r.holdout_error for r in classifier.history_]
    kept = ("is_safe", "quality", "suggested", "planted", "disagreement", "basis")
    found = {name: getattr(findings, name) for name in kept}
    held_out = min((e for e in errors if e is not None), default=np.nan)
    return {
        **{name: value for name, value in found.items() if value is not None},
        "classes": classifier.classes_,
        "holdout_error": held_out,
    }


def _rounds(mode: str, X: np.ndarray, y: np.ndarray) -> dict[str, Any]:
    """Return what three rounds of trees or a linear model found out."""
    codes, classes, rng = y.astype(np.intp), np.unique(y), np.random.RandomState(0)
    candidates = candidates_for(X, codes, rng, cv=5)
    weights = np.ones(len(codes))
    compared = draw_comparison(codes, weights, 5, None, rng, mode)
    chosen, _ = likeliest(candidates, codes, classes, compared, weights, rng)
    found = chosen.assess(codes, classes, rng)
    return {"of_rounds": found.probability, "transitions": found.transitions}


def report_of(found: dict[str, Any]) -> LabelReport:
    """Return the report of a stored audit, with the present rules and constants."""
    given = found["given"]
    if "of_rounds" in found:
        codes = given.astype(np.intp)
        rounds = RoundsAssessment(codes, found["of_rounds"], found["transitions"])
        return LabelReport(**fields_of_rounds(rounds, np.unique(given)))
    if "probability" in found:
        classes = np.arange(found["probability"].shape[1])
        return LabelReport.from_probabilities(found["probability"], given, classes)
    names = ("is_safe", "quality", "suggested")
    findings = LabelFindings(
        **{name: found[name] for name in names},
        agreement=found["quality"],
        planted=PlantedErrors(*found["planted"]) if "planted" in found else None,
        disagreement=found.get("disagreement"),
        basis=str(found["basis"]),
    )
    holdout_error = float(found["holdout_error"])
    classifier = StoredClassifier(findings, found["classes"], holdout_error)
    return LabelReport.from_estimator(classifier, None, given)


class StoredClassifier(ClassifierMixin, BaseEstimator):
    """What a report needs of a fitted classifier."""

    def __init__(
        self, findings: LabelFindings, classes: np.ndarray, holdout_error: float
    ) -> None:
        self.label_findings_ = findings
        self.classes_ = classes
        error = None if np.isnan(holdout_error) else holdout_error
        self.history_ = [SimpleNamespace(holdout_error=error)]

    def fit(self, X: Any, y: Any) -> "StoredClassifier":
        """Change nothing: it was fitted before it was stored."""
        return self
