"""What Prestopping gains on two data sets, and that it does no harm without noise.

Reads ``letter.npz`` and ``cifar10n_feat.npz`` from the folder named by SKPRESTO_DATA
(arrays X_train, y_train, X_test, y_test, and y_train_worst for human labels) and
prints the test error after the last epoch, mean and standard error over the seeds.

    SKPRESTO_DATA=path/to/folder python benchmarks/accuracy/effect.py
    SKPRESTO_DATA=path/to/folder python benchmarks/accuracy/effect.py --rows letter-pair
"""

import argparse
import os
import time
import warnings
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from skpresto import DefaultClassifier, PrestoppingClassifier
from skpresto.noise import PairNoise, SymmetricNoise
from skpresto.stopping import (
    HoldoutStop,
    LabelWaveStop,
    MemorizedFractionStop,
    NoiseRateStop,
    OracleStop,
    ValidationStop,
)

NOISE = {"pair": PairNoise, "symmetric": SymmetricNoise}
ROWS = {  # name: (data set, noise, epochs)
    "letter-pair": ("letter", "pair", 60),
    "letter-symmetric": ("letter", "symmetric", 60),
    "letter-clean": ("letter", "clean", 60),
    "cifar10n-worst": ("cifar10n_feat", "worst", 40),
    "cifar10n-clean": ("cifar10n_feat", "clean", 40),
}
RULES = (
    "default rule",
    "validation",
    "noise rate",
    "memorized fraction",
    "holdout",
    "label wave",
    "oracle",
)


def load(name, noise, seed):
    """Return standardised data with noisy training labels."""
    data = np.load(Path(os.environ["SKPRESTO_DATA"]) / f"{name}.npz")
    scaler = StandardScaler().fit(data["X_train"].astype(np.float32))
    X = scaler.transform(data["X_train"].astype(np.float32))
    X_test = scaler.transform(data["X_test"].astype(np.float32))
    y_true, y_test = data["y_train"], data["y_test"]
    if noise == "clean":
        return X, y_true, y_true, X_test, y_test
    if noise in NOISE:
        return (
            X,
            NOISE[noise](0.4, random_state=seed).fit_transform(y_true),
            y_true,
            X_test,
            y_test,
        )
    return X, data[f"y_train_{noise}"], y_true, X_test, y_test


def rule_named(name, rate):
    """Return the stop rule of a column; the true rate goes to those that need it."""
    return {
        "default rule": None,
        "validation": ValidationStop(),
        "noise rate": NoiseRateStop(rate),
        "memorized fraction": MemorizedFractionStop(rate),
        "holdout": HoldoutStop(),
        "label wave": LabelWaveStop(),
        "oracle": OracleStop(),
    }[name]


def run_cell(row, method, seed):
    """Train once; return the error after the last epoch and a line about it."""
    dataset, noise, epochs = ROWS[row]
    X, y, y_true, X_test, y_test = load(dataset, noise, seed)
    recipe = {"max_epochs": epochs, "optimizer__weight_decay": 5e-4}
    recipe["random_state"] = seed
    fit_args = {"y_true": y_true}
    started = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        if method == "Default":
            clf = DefaultClassifier(**recipe).fit(X, y, **fit_args)
        else:
            if method == "validation":
                parts = train_test_split(
                    X, y, y_true, test_size=0.05, stratify=y_true, random_state=seed
                )
                X, X_val, y, _, fit_args["y_true"], y_val = parts
                fit_args |= {"X_val": X_val, "y_val": y_val}
            rate = float(np.mean(y != fit_args["y_true"]))
            rule = rule_named(method, rate)
            clf = PrestoppingClassifier(stop=rule, **recipe).fit(X, y, **fit_args)
    last = clf.history_[-1]
    return {
        "error": 1 - clf.score(X_test, y_test),
        "stop": getattr(clf, "stop_epoch_", None),
        "MP": last.memorization_precision,
        "MR": last.memorization_recall,
        "seconds": time.perf_counter() - started,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", nargs="+", choices=ROWS, default=list(ROWS))
    parser.add_argument("--methods", nargs="+", default=["Default", *RULES])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=2)
    args = parser.parse_args()
    seeds = range(args.seeds)
    cells = [
        (row, m, seed) for row in args.rows for m in args.methods for seed in seeds
    ]
    results = Parallel(n_jobs=args.jobs, return_as="generator")(
        delayed(run_cell)(*cell) for cell in cells
    )
    print("| data | method | error (s.e.) | stop epochs | MP | MR | s a fit |")
    print("|---|---|---|---|---|---|---|")
    for row in args.rows:
        for method in args.methods:
            runs = [next(results) for _ in range(args.seeds)]
            errors = [run["error"] for run in runs]
            spread = np.std(errors, ddof=1) / len(errors) ** 0.5
            fields = ("MP", "MR", "seconds")
            means = {field: np.mean([run[field] for run in runs]) for field in fields}
            print(
                f"| {row} | {method} | {np.mean(errors):.4f} ({spread:.4f}) | "
                f"{[run['stop'] for run in runs]} | {means['MP']:.3f} | "
                f"{means['MR']:.3f} | {means['seconds']:.1f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
