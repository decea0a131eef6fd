"""Measure time and memory of noise injection against numpy's ``Generator.choice``.

Run ``python benchmarks/speed/noise_injection.py`` (10 million labels, 100 classes,
about a minute). References, fastest first:

- *choice per class*: for each class one ``rng.choice(n_classes, size=count, p=row)``;
- *choice per label*: ``rng.choice(n_classes, p=row)`` in a loop, timed on a part of the
  labels and extrapolated.

Seconds are the best of several runs. Bytes per label are the peak that tracemalloc
reports, minus the output.
"""

import argparse
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable, Iterator

import numpy as np

from skpresto.noise import PairNoise, SymmetricNoise, TransitionMatrixNoise

RATE = 0.4
LABELS_IN_LOOP = 20_000


def choice_per_class(y: np.ndarray, matrix: np.ndarray) -> np.ndarray:
    rng = np.random.default_rng(0)
    noisy = y.copy()
    for label, row in enumerate(matrix):
        of_class = np.flatnonzero(y == label)
        noisy[of_class] = rng.choice(len(matrix), size=len(of_class), p=row)
    return noisy


def choice_per_label(y: np.ndarray, matrix: np.ndarray) -> np.ndarray:
    rng = np.random.default_rng(0)
    return np.array([rng.choice(len(matrix), p=matrix[label]) for label in y])


def seconds(function: Callable[[], object], repeats: int) -> float:
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times)


def bytes_beyond_output(function: Callable[[], np.ndarray]) -> float:
    tracemalloc.start()
    noisy = function()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return (peak - noisy.nbytes) / len(noisy)


def import_seconds_after_sklearn(repeats: int) -> float:
    code = (
        "import time, sklearn; start = time.perf_counter(); import skpresto.noise; "
        "print(time.perf_counter() - start)"
    )
    command = [sys.executable, "-c", code]
    runs = [
        subprocess.run(command, check=True, capture_output=True, text=True)
        for _ in range(repeats)
    ]
    return min(float(run.stdout) for run in runs)


def measured(
    noises: list, y: np.ndarray, reference: float, repeats: int
) -> Iterator[tuple[str, float, float]]:
    """Yield name, seconds and bytes per label of each noise, and print them."""
    for noise in noises:
        taken = seconds(lambda: noise.fit_transform(y), repeats)  # noqa: B023
        extra = bytes_beyond_output(lambda: noise.fit_transform(y))  # noqa: B023
        name = type(noise).__name__ + (", exact" if noise.exact else "")
        print(f"{name:34}{taken:9.3f}{extra:17.1f}{reference / taken:10.1f}")
        yield name, taken, extra


def reference_seconds(y: np.ndarray, matrix: np.ndarray, repeats: int) -> float:
    """Return the seconds of the faster reference, and print those of both."""
    reference = seconds(lambda: choice_per_class(y, matrix), repeats)
    in_loop = seconds(lambda: choice_per_label(y[:LABELS_IN_LOOP], matrix), 1)
    in_loop *= len(y) / LABELS_IN_LOOP
    extra = bytes_beyond_output(lambda: choice_per_class(y, matrix))
    print(f"{'choice per label (extrapolated)':34}{in_loop:9.2f}")
    print(f"{'choice per class':34}{reference:9.3f}{extra:17.1f}{1:10.1f}")
    return reference


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--labels", type=int, default=10_000_000)
    parser.add_argument("--classes", type=int, default=100)
    parser.add_argument("--repeats", type=int, default=5)
    settings = parser.parse_args()

    y = np.random.default_rng(0).integers(settings.classes, size=settings.labels)
    symmetric = SymmetricNoise(RATE, random_state=0)
    matrix = symmetric.fit(np.arange(settings.classes)).transition_matrix_
    noises = [
        symmetric,
        PairNoise(RATE, random_state=0),
        TransitionMatrixNoise(matrix, random_state=0),
        SymmetricNoise(RATE, exact=True, random_state=0),
    ]
    print(f"{settings.labels:,} labels, {settings.classes} classes, rate {RATE}")
    print(f"{'':34}{'seconds':>9}{'bytes per label':>17}{'speed-up':>10}")
    reference = reference_seconds(y, matrix, settings.repeats)
    missed = []
    for name, taken, extra in measured(noises, y, reference, settings.repeats):
        if extra >= 12:
            missed.append(f"{name} takes 12 bytes per label or more")
        if name == "SymmetricNoise" and reference < 5 * taken:
            missed.append(f"{name} is not 5 times as fast as choice per class")
    more = import_seconds_after_sklearn(settings.repeats)
    print(f"import skpresto.noise: {1000 * more:.0f} ms beyond import sklearn")
    if more > 0.05:
        missed.append("import takes more than 50 ms longer than scikit-learn's")
    print("\n".join(f"MISSED: {miss}" for miss in missed) or "all targets met")
    return len(missed)


if __name__ == "__main__":
    sys.exit(main())
