"""Recall of a rare class under label noise, with and without class weights.

Five classes, one of which has 1 % of the samples, and 20 % symmetric label noise: most
labels of the rare class are wrong. Prints a Markdown table, as in docs/imbalance.md::

    python benchmarks/accuracy/rare_class.py --seeds 0 1 2 3 4
"""

import argparse
import warnings
from collections.abc import Iterator, Sequence

import numpy as np
from sklearn.datasets import make_classification
from sklearn.metrics import recall_score
from sklearn.utils import Bunch

from skpresto import (
    CrossPrestoppingClassifier,
    DefaultClassifier,
    PrestoppingClassifier,
)
from skpresto.exceptions import SafeSetWarning

METHODS = DefaultClassifier, PrestoppingClassifier, CrossPrestoppingClassifier
N_CLASSES, RARE = 5, 4

#: Recall of the rare class, balanced accuracy, and whether the fit has warned.
Result = tuple[float, float, bool]


def make_split(seed: int, n_train: int = 4000, n_test: int = 20_000) -> Bunch:
    """Return training rows with noisy labels, and test rows with correct ones.

    The last class is rare.
    """
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
    test = {"X_test": X[n_train:], "y_test": y[n_train:]}
    return Bunch(X=X[:n_train], y=y_noisy, is_correct=~is_wrong, **test)


def measure(
    method: type,
    split: Bunch,
    seed: int,
    *,
    correct_only: bool = False,
    **params: object,
) -> Result:
    """Fit on noisy labels, and return recalls on the test rows."""
    rows = split.is_correct if correct_only else slice(None)
    clf = method(max_epochs=20, random_state=seed, **params)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        clf.fit(split.X[rows], split.y[rows])
    recalls = recall_score(split.y_test, clf.predict(split.X_test), average=None)
    has_warned = any(w.category is SafeSetWarning for w in caught)
    return recalls[RARE], recalls.mean(), has_warned


def line(name: str, results: Sequence[Result]) -> str:
    """Return a line of the table."""
    cells = [f"{r:.2f} / {b:.2f}" + " *" * has_warned for r, b, has_warned in results]
    recall, accuracy, _ = np.mean(results, axis=0)
    return f"| {name} | {' | '.join(cells)} | {recall:.2f} / {accuracy:.2f} |"


def table(seeds: Sequence[int]) -> Iterator[str]:
    """Yield the lines of the table, each as soon as it is known."""
    splits = {seed: make_split(seed) for seed in seeds}
    yield "| method | " + " | ".join(f"seed {seed}" for seed in seeds) + " | mean |"
    yield "|---|" + "---|" * (len(seeds) + 1)
    fits = [
        (method, suffix, {"class_weight": weight})
        for weight, suffix in ((None, ""), ("balanced", ", balanced"))
        for method in METHODS
    ]
    fits.append((DefaultClassifier, ", correct labels only", {"correct_only": True}))
    for method, suffix, params in fits:
        name = method.__name__.removesuffix("Classifier") + suffix
        yield line(name, [measure(method, splits[s], s, **params) for s in seeds])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2, 3, 4])
    for shown in table(parser.parse_args().seeds):
        print(shown, flush=True)
