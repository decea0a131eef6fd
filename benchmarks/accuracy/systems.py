"""The seven systems of the paper on letter with 40 % pair and symmetric noise.

Every method gets the same network, recipe and number of epochs, and the true noise
rate where it takes one; the error is that after the last epoch. Prestopping is run
with its label-free default rule and with the true rate (NoiseRateStop).

    SKPRESTO_DATA=path/to/folder python benchmarks/accuracy/systems.py
"""

import argparse
import time
import warnings

import numpy as np
from effect import ROWS, load
from joblib import Parallel, delayed

from skpresto import (
    ActiveBiasClassifier,
    CoTeachingClassifier,
    CoTeachingPlusClassifier,
    DefaultClassifier,
    PrestoppingClassifier,
    PrestoppingPlusClassifier,
    SelfieClassifier,
)
from skpresto.metrics import memorization_precision, memorization_recall
from skpresto.stopping import NoiseRateStop

SYSTEMS = {  # name: function of the noise rate and the recipe
    "Default": lambda rate, **recipe: DefaultClassifier(**recipe),
    "Active Bias": lambda rate, **recipe: ActiveBiasClassifier(**recipe),
    "Co-teaching": lambda rate, **recipe: CoTeachingClassifier(
        noise_rate=rate, **recipe
    ),
    "Co-teaching+": lambda rate, **recipe: CoTeachingPlusClassifier(
        noise_rate=rate, **recipe
    ),
    "SELFIE, one run": lambda rate, **recipe: SelfieClassifier(
        noise_rate=rate, restarts=0, **recipe
    ),
    "SELFIE, 2 restarts": lambda rate, **recipe: SelfieClassifier(
        noise_rate=rate, **recipe
    ),
    "Prestopping, default rule": lambda rate, **recipe: PrestoppingClassifier(**recipe),
    "Prestopping, noise rate": lambda rate, **recipe: PrestoppingClassifier(
        stop=NoiseRateStop(rate), **recipe
    ),
    "Prestopping+, default rule": lambda rate, **recipe: PrestoppingPlusClassifier(
        **recipe
    ),
    "Prestopping+, noise rate": lambda rate, **recipe: PrestoppingPlusClassifier(
        stop=NoiseRateStop(rate), **recipe
    ),
}


def run_cell(row, name, seed):
    """Train one system once."""
    dataset, noise, epochs = ROWS[row]
    X, y, y_true, X_test, y_test = load(dataset, noise, seed)
    rate = float(np.mean(y != y_true))
    clf = SYSTEMS[name](
        rate, max_epochs=epochs, optimizer__weight_decay=5e-4, random_state=seed
    )
    started = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        clf.fit(X, y)
    return {
        "error": 1 - clf.score(X_test, y_test),
        "precision": memorization_precision(clf.safe_mask_, y, y_true),
        "recall": memorization_recall(clf.safe_mask_, y, y_true),
        "seconds": time.perf_counter() - started,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    rows = ["letter-pair", "letter-symmetric"]
    parser.add_argument("--rows", nargs="+", choices=ROWS, default=rows)
    parser.add_argument("--systems", nargs="+", choices=SYSTEMS, default=list(SYSTEMS))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=2)
    args = parser.parse_args()
    seeds = range(args.seeds)
    cells = [
        (r, name, seed) for r in args.rows for name in args.systems for seed in seeds
    ]
    results = Parallel(n_jobs=args.jobs, return_as="generator")(
        delayed(run_cell)(*cell) for cell in cells
    )
    print("| data | system | error (s.e.) | safe precision | safe recall | s a fit |")
    print("|---|---|---|---|---|---|")
    for row in args.rows:
        for name in args.systems:
            runs = [next(results) for _ in range(args.seeds)]
            means = {key: np.mean([run[key] for run in runs]) for key in runs[0]}
            spread = np.std([run["error"] for run in runs], ddof=1) / len(runs) ** 0.5
            print(
                f"| {row} | {name} | {means['error']:.4f} ({spread:.4f}) | "
                f"{means['precision']:.3f} | {means['recall']:.3f} | "
                f"{means['seconds']:.0f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
