"""Compare fits on several processes with fits on one, and kill some of them.

    python benchmarks/parallel/sweep.py             # all classifiers, 1 to 3 processes
    python benchmarks/parallel/sweep.py --kills 40  # kill processes at random times
    python benchmarks/parallel/sweep.py --search    # with workers, inside the block
    python benchmarks/parallel/sweep.py --accuracy  # BatchNorm and dropout per process

Networks are in double precision, without BatchNorm and dropout, so that results differ
by rounding only. Killed fits have both, and must end with the same bits.
"""

import argparse
import hashlib
import itertools
import multiprocessing
import os
import random
import tempfile
import time
import warnings
from contextlib import nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.distributed as dist
from sklearn.datasets import load_digits
from sklearn.model_selection import GridSearchCV
from torch import nn

import skpresto

NAMES = [name for name in skpresto.__all__ if name.endswith("Classifier")]
NAMES.remove("LabelCleaningClassifier")  # which trains no networks
FURTHER: dict[str, dict[str, Any]] = {
    "CoTeachingPlusClassifier": {"noise_rate": 0.3},
    "SelfieClassifier": {"noise_rate": 0.3, "restarts": 1},
    "CrossPrestoppingClassifier": {"cv": 3},
}
BATCH_SIZES = (37, 64, 101)
CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload(["torch._dynamo", "sklearn.datasets", "skpresto"])


class Double(nn.Sequential):
    """A network in double precision, in which the rows of a batch do not mix."""

    def __init__(self, n_features: int, n_classes: int) -> None:
        super().__init__(nn.Linear(n_features, 24), nn.Tanh(), nn.Linear(24, n_classes))
        self.double()
        # Outputs of networks in double precision alone are rounded to float32.
        self.unused = nn.Parameter(torch.zeros(1))

    def forward(self, X: torch.Tensor) -> torch.Tensor:
        """Return logits in double precision."""
        return super().forward(X.double())


def problem() -> tuple[np.ndarray, np.ndarray]:
    """Return digits with 30 % of the labels moved to the next class."""
    X, y = load_digits(return_X_y=True)
    X, y = (X[:500] / 16).astype(np.float32), y[:500]
    is_wrong = np.random.RandomState(1).uniform(size=len(y)) < 0.3
    return X, np.where(is_wrong, (y + 1) % 10, y)


def classifier(name: str, **params: Any) -> Any:
    settings = {"max_epochs": 8, "random_state": 0, "q": 4}
    return getattr(skpresto, name)(**{**settings, **FURTHER.get(name, {}), **params})


def numbers(clf: Any, X: np.ndarray) -> np.ndarray:
    """Return weights, records, probabilities and findings in one vector."""
    records = [{**asdict(record), "seconds": 0.0} for record in clf.history_]
    parts = [w.numpy() for w in clf.net_.module_.state_dict().values()]
    parts += [clf.label_quality_, clf.safe_mask_, clf.label_agreement_]
    parts += [[v for v in r.values() if isinstance(v, (int, float))] for r in records]
    parts.append(clf.predict_proba(X))
    return np.concatenate([np.ravel(part).astype(np.float64) for part in parts])


def compare(rank: int, size: int, folder: str) -> None:
    """Fit all classifiers in one of the processes."""
    X, y = problem()
    weights = np.random.RandomState(3).randint(1, 4, size=len(y))
    for name, batch_size in itertools.product(NAMES, BATCH_SIZES):
        clf = classifier(name, module=Double, batch_size=batch_size)
        with skpresto.data_parallel() if size > 1 else nullcontext():
            clf.fit(X, y, sample_weight=weights if batch_size == 64 else None)
        np.save(f"{folder}/{name}-{batch_size}-{size}-{rank}.npy", numbers(clf, X))


def search(rank: int, size: int, folder: str) -> None:
    """Search in worker processes of each process."""
    X, y = problem()
    clf = classifier("DefaultClassifier", max_epochs=3)
    grid = GridSearchCV(clf, {"lr": [0.01, 0.1]}, cv=2, n_jobs=2)
    with skpresto.data_parallel():
        grid.fit(X, y)
    np.save(f"{folder}/search-{rank}.npy", grid.cv_results_["mean_test_score"])


def accuracy(rank: int, size: int, folder: str) -> None:
    """Fit the built-in network, with BatchNorm and dropout, with several seeds."""
    X, y = load_digits(return_X_y=True)
    X = (X / 16).astype(np.float32)
    errors = []
    for seed in range(10):
        order = np.random.RandomState(seed).permutation(len(y))
        train, test = order[:1300], order[1300:]
        is_wrong = np.random.RandomState(seed + 100).uniform(size=len(train)) < 0.3
        noisy = np.where(is_wrong, (y[train] + 1) % 10, y[train])
        clf = skpresto.PrestoppingClassifier(max_epochs=40, random_state=seed)
        with skpresto.data_parallel() if size > 1 else nullcontext():
            clf.fit(X[train], noisy)
        errors.append(1 - clf.score(X[test], y[test]))
    np.save(f"{folder}/errors-{size}-{rank}.npy", errors)


def resumed(rank: int, size: int, folder: str, name: str) -> None:
    """Fit, or go on with a fit that was killed; store a digest."""
    X, y = problem()
    clf = classifier(name, module__hidden=(32,))
    with skpresto.data_parallel(), skpresto.resumable(f"{folder}/fit", every=0):
        clf.fit(X, y)
    digest = hashlib.sha256(numbers(clf, X).tobytes()).hexdigest()
    Path(f"{folder}/digest-{rank}").write_text(digest)


def _serve(
    rank: int, size: int, folder: str, meeting: str, job: Any, *args: Any
) -> None:
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    address = f"file://{meeting}"
    dist.init_process_group("gloo", init_method=address, rank=rank, world_size=size)
    job(rank, size, folder, *args)
    dist.destroy_process_group()


def started(size: int, folder: str, job: Any, *args: Any) -> list:
    meeting = f"{folder}/meeting-{os.urandom(4).hex()}"
    processes = [
        CONTEXT.Process(target=_serve, args=(rank, size, folder, meeting, job, *args))
        for rank in range(size)
    ]
    for process in processes:
        process.start()
    return processes


def ended(processes: list, seconds: float) -> list[int | None]:
    """Return the exit codes; processes that hang are killed, and have None."""
    deadline = time.monotonic() + seconds
    codes = []
    for process in processes:
        process.join(max(0.0, deadline - time.monotonic()))
        codes.append(process.exitcode)
        if process.exitcode is None:
            process.kill()
    return codes


def run(size: int, folder: str, job: Any, *args: Any) -> None:
    """Run a job in some processes, all of which must end without an error."""
    codes = ended(started(size, folder, job, *args), 3600)
    assert codes == [0] * size, codes


def run_comparison(folder: str) -> None:
    for size in (1, 2, 3):
        run(size, folder, compare)
    for name, batch_size, size in itertools.product(NAMES, BATCH_SIZES, (2, 3)):
        start = f"{folder}/{name}-{batch_size}"
        alone = np.load(f"{start}-1-0.npy")
        found = [np.load(f"{start}-{size}-{rank}.npy") for rank in range(size)]
        is_same = all(f.tobytes() == found[0].tobytes() for f in found)
        bits = "same" if is_same else "DIFFERENT"
        print(
            f"{name}, batch_size={batch_size}, {size} processes: largest difference "
            f"{np.nanmax(np.abs(found[0] - alone)):.1e}, {bits} bits in all of them"
        )


def run_search(folder: str) -> None:
    run(2, folder, search)
    first, second = (np.load(f"{folder}/search-{rank}.npy") for rank in range(2))
    assert first.tobytes() == second.tobytes()
    print("GridSearchCV(n_jobs=2) in the block: same scores in both processes")


def run_accuracy(folder: str) -> None:
    for size in (1, 2, 4):
        run(size, folder, accuracy)
        errors = 100 * np.load(f"{folder}/errors-{size}-0.npy")
        spread = errors.std(ddof=1) / np.sqrt(len(errors))
        print(f"{size} processes: test error {errors.mean():.2f} +- {spread:.2f} %")


def run_kills(n_kills: int) -> None:
    n_made = n_same = n_fits = 0
    longest = 0.0
    for name in NAMES * n_kills:
        if n_made >= n_kills:
            break
        with tempfile.TemporaryDirectory() as folder:
            clock = time.monotonic()
            run(2, folder, resumed, name)
            takes = time.monotonic() - clock
            expected = Path(f"{folder}/digest-0").read_text()
        with tempfile.TemporaryDirectory() as folder:
            for _ in range(3):
                n_hit, seconds = kill_one(folder, name, takes)
                n_made, longest = n_made + n_hit, max(longest, seconds)
            run(2, folder, resumed, name)
            found = {Path(f"{folder}/digest-{rank}").read_text() for rank in (0, 1)}
        n_fits += 1
        n_same += found == {expected}
        print(f"{name}: {'same bits' if found == {expected} else 'OTHER BITS'}")
    print(
        f"{n_made} kills, {n_same} of {n_fits} fits ended with the same bits; the "
        f"other process ended after at most {longest:.1f} s"
    )


def kill_one(folder: str, name: str, takes: float) -> tuple[int, float]:
    """Kill one of two processes of a fit at a random time.

    Return whether it still ran, and the seconds until the other one ended.
    """
    processes = started(2, folder, resumed, name)
    time.sleep(random.uniform(0.2, 0.8) * takes)
    victim = random.choice(processes)
    is_hit = victim.is_alive()
    if is_hit:
        victim.kill()
    killed_at = time.monotonic()
    assert None not in ended(processes, 60), "a process hangs"
    return int(is_hit), time.monotonic() - killed_at


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=0)
    parser.add_argument("--search", action="store_true")
    parser.add_argument("--accuracy", action="store_true")
    options = parser.parse_args()
    if options.kills:
        run_kills(options.kills)
        return
    with tempfile.TemporaryDirectory() as folder:
        if options.search:
            run_search(folder)
        elif options.accuracy:
            run_accuracy(folder)
        else:
            run_comparison(folder)


if __name__ == "__main__":
    main()
