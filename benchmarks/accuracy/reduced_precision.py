"""Test errors with ``autocast="bfloat16"`` beside those of float32, seed by seed.

Images are those of Fashion-MNIST, with 40 % symmetric noise, and CIFAR-10N, with the
labels "worst", from the folder that SKPRESTO_DATA names. Both precisions get the same
rows, noise and seed; with bfloat16, images are in channels-last order. Prints a table
in Markdown, as in docs/scale.md::

    python benchmarks/accuracy/reduced_precision.py
    python benchmarks/accuracy/reduced_precision.py --module built-in --rows 1000
"""

import argparse
import warnings
from collections.abc import Iterator, Sequence

import numpy as np
from cells import Cell, Setting
from classifiers import classifier_of
from contenders import DEFAULT_RULE
from data import split_of

#: Data sets, each with its noise and rate.
DATA = {"fashion_mnist": ("symmetric", 0.4), "cifar10n": ("worst", None)}
METHODS = {"Default": None, "Prestopping": DEFAULT_RULE}
PRECISIONS = None, "bfloat16"
HALVED, BUILT_IN = "SmallCNN on halved images", "built-in"


def measure(cell: Cell, setting: Setting, autocast: str | None) -> float:
    """Return the test error of a fit."""
    split = split_of(cell, setting)
    clf = classifier_of(cell, setting, split.noise_rate, [])
    clf.set_params(autocast=autocast)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # few epochs: stop rules may not be settled
        clf.fit(split.X, split.y)
    return 1 - clf.score(split.X_test, split.y_test)


def line(name: str, pairs: Sequence[tuple[float, float]]) -> str:
    """Return a line of the table, in percent and points.

    Pairs are the test errors of both precisions with one seed.
    """
    full, reduced = 100 * np.transpose(pairs)
    difference = reduced - full
    error = np.std(difference, ddof=1) / np.sqrt(len(pairs))
    return (
        f"| {name} | {full.mean():.2f} | {reduced.mean():.2f} | "
        f"{difference.mean():+.2f} ± {error:.2f} | {len(pairs)} |"
    )


def table(
    names: Sequence[str], methods: Sequence[str], seeds: Sequence[int], setting: dict
) -> Iterator[str]:
    """Yield the lines of the table, each as soon as it is known."""
    yield "| | float32 | bfloat16 | difference | seeds |"
    yield "|---|---|---|---|---|"
    for data in names:
        for method in methods:
            rule, sizes = METHODS[method], Setting(data, **setting)
            cells = [Cell(method, data, *DATA[data], seed, rule=rule) for seed in seeds]
            pairs = [[measure(cell, sizes, p) for p in PRECISIONS] for cell in cells]
            yield line(f"{data}, {method}", pairs)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", nargs="+", choices=DATA, default=list(DATA))
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS))
    parser.add_argument("--seeds", type=int, nargs="+", default=list(range(10)))
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--test-rows", type=int, default=5000)
    parser.add_argument("--epochs", type=int, default=15)
    parser.add_argument("--module", choices=[HALVED, BUILT_IN], default=HALVED)
    given = parser.parse_args()
    setting = {
        "epochs": given.epochs,
        "rows": given.rows,
        "test_rows": given.test_rows,
        "module": None if given.module == BUILT_IN else given.module,
    }
    for shown in table(given.data, given.methods, given.seeds, setting):
        print(shown, flush=True)


if __name__ == "__main__":
    main()
