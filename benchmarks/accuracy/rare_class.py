"""Recall of a rare class under label noise, with and without class weights.

Five classes, one of which has 1 % of the samples, and 20 % symmetric label noise: most
labels of the rare class are wrong. Prints a Markdown table, as in docs/imbalance.md::

    python benchmarks/accuracy/rare_class.py --seeds 0 1 2 3 4
"""

import argparse
import warnings
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import make_classification
from sklearn.metrics import recall_score

from skpresto import (
    CrossPrestoppingClassifier,
    DefaultClassifier,
    PrestoppingClassifier,
)
from skpresto.exceptions import SafeSetWarning

METHODS = DefaultClassifier, PrestoppingClassifier, CrossPrestoppingClassifier
N_CLASSES, RARE = 5, 4


class Split(NamedTuple):
    """Training rows with noisy labels, and test rows with correct ones."""

    X: NDArray[np.float64]
    y: NDArray[np.intp]
    X_test: NDArray[np.float64]
    y_test: NDArray[np.intp]
    is_correct: NDArray[np.bool_]

    def correct_only(self) -> "Split":
        """Return the training rows whose label is correct."""
        return self._replace(X=self.X[self.is_correct], y=self.y[self.is_correct])


class Result(NamedTuple):
    """What one fit came to."""

    recall: float
    balanced_accuracy: float
    has_warned: bool


def make_split(seed: int, n_train: int = 4000, n_test: int = 20_000) -> Split:
    """Return data whose last class is rare."""
    X, y = make_classification(
        n_samples=n_train + n_test,
        n_features=20,
        n_informative=10,
        n_classes=N_CLASSES,
        n_clusters_per_class=1,
        weights=[0.25, 0.25, 0.25, 0.24, 0.01],
        class_sep=1.3,
        flip_y=0,
        random_state=seed,
    )
    rng = np.random.RandomState(seed)
    is_wrong = rng.uniform(size=n_train) < 0.2
    moved = (y[:n_train] + rng.randint(1, N_CLASSES, size=n_train)) % N_CLASSES
    y_noisy = np.where(is_wrong, moved, y[:n_train])
    return Split(X[:n_train], y_noisy, X[n_train:], y[n_train:], ~is_wrong)


def measure(method: type, split: Split, seed: int, **params: object) -> Result:
    """Fit on noisy labels, and return recalls on the test rows."""
    clf = method(max_epochs=20, random_state=seed, **params)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        clf.fit(split.X, split.y)
    recalls = recall_score(split.y_test, clf.predict(split.X_test), average=None)
    has_warned = any(w.category is SafeSetWarning for w in caught)
    return Result(recalls[RARE], recalls.mean(), has_warned)


def row(name: str, results: Sequence[Result]) -> str:
    """Return a line of the table."""
    cells = [
        f"{r.recall:.2f} / {r.balanced_accuracy:.2f}" + " *" * r.has_warned
        for r in results
    ]
    recall, accuracy, _ = np.mean(results, axis=0)
    return f"| {name} | {' | '.join(cells)} | {recall:.2f} / {accuracy:.2f} |"


def table(seeds: Sequence[int]) -> Iterator[str]:
    """Yield the lines of the table, each as soon as it is known."""
    splits = [make_split(seed) for seed in seeds]
    yield "| method | " + " | ".join(f"seed {seed}" for seed in seeds) + " | mean |"
    yield "|---|" + "---|" * (len(seeds) + 1)
    for class_weight in (None, "balanced"):
        for method in METHODS:
            name = method.__name__.removesuffix("Classifier")
            yield row(
                name if class_weight is None else f"{name}, {class_weight}",
                [
                    measure(method, split, seed, class_weight=class_weight)
                    for split, seed in zip(splits, seeds, strict=True)
                ],
            )
    results = [
        measure(DefaultClassifier, split.correct_only(), seed)
        for split, seed in zip(splits, seeds, strict=True)
    ]
    yield row("Default, correct labels only", results)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2, 3, 4])
    for line in table(parser.parse_args().seeds):
        print(line, flush=True)
