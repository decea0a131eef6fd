"""Any classifier on noisy labels: as it is, by CleanLearning, by label cleaning.

On the rows of the comparison at equal cost that are tables or features, and on clean
rows. Each line of ``results/any_classifier.jsonl`` is a fit; lines that are there are
not computed again. ``any_classifier_table.py`` makes the tables.

    python benchmarks/accuracy/any_classifier.py --estimators extra logistic --seeds 0
"""

import argparse
import json
import time
import warnings
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from cells import Cell, Setting
from data import Split, split_of
from grids import DataRow
from rivals import CTRL_ROWS, TABLE_ROWS
from settings import ALL_OF_LETTER, LAPTOP
from sklearn.base import clone
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score
from sklearn.neural_network import MLPClassifier

from skpresto import LabelCleaningClassifier

RESULTS = Path(__file__).parent / "results" / "any_classifier.jsonl"
METHODS = ("plain", "CleanLearning", "cleaning", "clean subset")
#: Boosting takes minutes for all rows of the features of images.
SETTINGS = {**LAPTOP, **ALL_OF_LETTER}
SETTINGS["cifar10n_feat"] = Setting("cifar10n_feat", epochs=25, rows=5000)
ROWS: tuple[DataRow, ...] = (*TABLE_ROWS, *CTRL_ROWS)


class Fit(NamedTuple):
    """What is fitted, and on what."""

    estimator: str
    method: str
    data: str
    noise: str
    rate: float | None
    seed: int


def estimators(seed: int) -> dict[str, Any]:
    """Return classifiers that people use for tables."""
    return {
        "extra trees": ExtraTreesClassifier(100, random_state=seed),
        "logistic": LogisticRegression(max_iter=200),
        "boosting": HistGradientBoostingClassifier(
            early_stopping=True, random_state=seed
        ),
        "MLP": MLPClassifier(max_iter=60, early_stopping=True, random_state=seed),
    }


def fits_of(wanted: argparse.Namespace) -> Iterator[Fit]:
    """Yield what is to be fitted."""
    for name, seed in product(wanted.estimators, wanted.seeds):
        for row, (noise, rate) in ROWS:
            for method in wanted.methods:
                is_clean = noise == "clean"
                if row in wanted.data and not (is_clean and method == "clean subset"):
                    yield Fit(name, method, row, noise, rate, seed)


def measured(fit: Fit, split: Split) -> dict[str, Any]:
    """Fit, and return the test error and what else was measured."""
    estimator = estimators(fit.seed)[fit.estimator]
    X, y = split.X, split.y
    if fit.method == "clean subset":
        kept = y == split.y_true
        X, y = X[kept], y[kept]
    elif fit.method == "CleanLearning":
        from cleanlab.classification import CleanLearning

        estimator = CleanLearning(estimator, cv_n_folds=5, seed=fit.seed, verbose=False)
    elif fit.method == "cleaning":
        estimator = LabelCleaningClassifier(estimator, random_state=fit.seed)
    started = time.process_time()
    model = clone(estimator).fit(X, y)
    seconds = time.process_time() - started
    result = fit._asdict() | {
        "error": float(np.mean(model.predict(split.X_test) != split.y_test)),
        "seconds": round(seconds, 2),
    }
    quality = None
    if fit.method == "CleanLearning":
        quality = model.get_label_issues()["label_quality"].to_numpy()
    elif fit.method == "cleaning":
        quality = model.label_quality_
        result |= {
            "assessor": type(model.assessor_).__name__,
            "fallback": bool(model.used_fallback_),
            "gain": round(model.gain_, 4),
        }
    is_wrong = split.y != split.y_true
    if quality is not None and is_wrong.any():
        precision = average_precision_score(is_wrong, -quality)
        result["average_precision"] = round(float(precision), 4)
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    names = list(estimators(0))
    parser.add_argument("--estimators", nargs="+", choices=names, default=names[:3])
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--data", nargs="+", default=list(SETTINGS))
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=METHODS)
    parser.add_argument("--results", type=Path, default=RESULTS)
    arguments = parser.parse_args()
    done = set()
    if arguments.results.exists():
        lines = arguments.results.read_text(encoding="utf-8").splitlines()
        done = {Fit(*map(json.loads(line).get, Fit._fields)) for line in lines}
    warnings.simplefilter("ignore")
    cell = split = None
    for fit in fits_of(arguments):
        if fit in done:
            continue
        wanted = Cell("any classifier", fit.data, fit.noise, fit.rate, fit.seed)
        if wanted != cell:
            cell, split = wanted, split_of(wanted, SETTINGS[fit.data])
        result = measured(fit, split)
        with arguments.results.open("a", encoding="utf-8") as file:
            file.write(json.dumps(result) + "\n")
        print(json.dumps(result), flush=True)


if __name__ == "__main__":
    main()
