"""Kill fits with SIGKILL, start them again, and compare the results bit by bit.

    python benchmarks/resume/kill.py              # after writes, and during them
    python benchmarks/resume/kill.py --random 100 # that many kills at random times
    python benchmarks/resume/kill.py --cost       # what storing the progress costs

Each attempt is a process of its own, which resumes in the folder of the one before. A
fit is compared with an uninterrupted one: weights, probabilities, records without
times, and all fitted attributes.
"""

import argparse
import hashlib
import itertools
import multiprocessing
import os
import random
import signal
import tempfile
import time
import warnings
from contextlib import nullcontext
from dataclasses import asdict
from pathlib import Path

import numpy as np
import torch
from sklearn.datasets import load_digits
from skorch.callbacks import LRScheduler

import skpresto
from skpresto import baselines

COSINE = torch.optim.lr_scheduler.CosineAnnealingLR
AFTER, DURING = "after a write", "during a write"
FORK = multiprocessing.get_context("fork")


def problem():
    """Return digits with 30 % of the labels moved to the next class."""
    X, y = load_digits(return_X_y=True)
    X, y = (X[:600] / 16).astype(np.float32), y[:600]
    is_wrong = np.random.RandomState(1).uniform(size=len(y)) < 0.3
    return {"X": X, "y": np.where(is_wrong, (y + 1) % 10, y)}


def with_validation_data():
    """Return the same with correct labels of further rows."""
    X, y = load_digits(return_X_y=True)
    X = (X[600:700] / 16).astype(np.float32)
    return {**problem(), "X_val": X, "y_val": y[600:700]}


def unpredictable():
    """Return labels that cannot be predicted: CrossPrestopping falls back."""
    rng = np.random.RandomState(2)
    X = rng.normal(size=(300, 20)).astype(np.float32)
    return {"X": X, "y": rng.randint(10, size=300)}


def contenders():
    """Yield name, classifier and data of each fit."""
    settings = {"max_epochs": 10, "random_state": 0, "q": 4, "module__hidden": (64,)}
    for name in skpresto.__all__:
        # Of one, a fit does not train networks.
        if name.endswith("Classifier") and name != "LabelCleaningClassifier":
            yield name, getattr(skpresto, name)(**settings), problem()
    for name in baselines.__all__:
        needs_clean = name == "LearningToReweightClassifier"
        data = with_validation_data() if needs_clean else problem()
        yield name, getattr(baselines, name)(**settings), data
    prestopping = skpresto.PrestoppingClassifier(**settings)
    yield "Adam", prestopping.set_params(optimizer=torch.optim.Adam, lr=0.01), problem()
    by_batch = LRScheduler(COSINE, T_max=60, step_every="batch")
    scheduled = skpresto.CrossPrestoppingClassifier(
        **settings, callbacks=[("schedule", by_batch)]
    )
    yield "schedule by batch", scheduled, problem()
    fallback = skpresto.CrossPrestoppingClassifier(**settings)
    yield "fallback", fallback, unpredictable()


def digest(clf, X):
    """Return a digest of everything that a fit computes."""
    found = hashlib.sha256(clf.predict_proba(X).tobytes())
    for value in clf.net_.module_.state_dict().values():
        found.update(value.numpy().tobytes())
    for record in clf.history_:
        fields = {k: v for k, v in asdict(record).items() if k != "seconds"}
        found.update(repr(sorted(fields.items())).encode())
    for name in sorted(vars(clf)):
        value = getattr(clf, name)
        if name.endswith("_") and isinstance(value, (np.ndarray, float, int, bool)):
            found.update(name.encode() + np.asarray(value).tobytes())
    return found.hexdigest()


def kill_self_at(n_writes, when):
    """Let this process kill itself at its n-th write."""
    counter = itertools.count(1)
    replace, fsync = os.replace, os.fsync

    def replace_and_kill(*args):
        replace(*args)
        if next(counter) == n_writes:
            os.kill(os.getpid(), signal.SIGKILL)

    def keep_half(file):  # which is not yet in its place
        fsync(file)
        if next(counter) == n_writes:
            os.truncate(file, os.fstat(file).st_size // 2)
            os.kill(os.getpid(), signal.SIGKILL)

    if when == AFTER:
        os.replace = replace_and_kill
    else:
        os.fsync = keep_half


def attempt(clf, data, folder, self_kill):
    """Fit in this process, and write a digest of the result."""
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    if self_kill is not None:
        kill_self_at(*self_kill)
    with skpresto.resumable(folder / "fit", every=0):
        clf.fit(**data)
    (folder / "digest").write_text(digest(clf, data["X"]))


def until_done(clf, data, kills):
    """Start and kill until a fit ends; return its digest and the number of kills.

    A kill is a number of seconds, or what :func:`kill_self_at` needs.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for n_kills, kill in enumerate([*kills, None]):
            is_timed = isinstance(kill, float)
            args = clf, data, folder, None if is_timed else kill
            process = FORK.Process(target=attempt, args=args)
            process.start()
            if is_timed:
                process.join(kill)
                process.kill()
            process.join()
            if (folder / "digest").exists():
                return (folder / "digest").read_text(), n_kills
            assert process.exitcode == -signal.SIGKILL, "the attempt failed"
    raise RuntimeError(f"The fit does not end after {n_kills} kills.")


def compare(where, contender, kills):
    """Compare a killed fit with an uninterrupted one; return the number of kills."""
    name, clf, data = contender
    expected, _ = until_done(clf, data, [])
    found, n_kills = until_done(clf, data, kills)
    verdict = "equal" if expected == found else "DIFFERENT"
    print(f"{f'{where}: {name}':45s} {n_kills:4d} kills  {verdict}", flush=True)
    return n_kills


def at_every_write():
    for when in (AFTER, DURING):
        # At the first write of all attempts, a fit would never get any further.
        kills = [(1, when), (3, when)] * 200
        total = sum(compare(when, contender, kills) for contender in contenders())
        print(f"{total} kills {when}\n")


def at_random_times(n_wanted):
    rng, total = random.Random(0), 0
    while total < n_wanted:
        for contender in contenders():
            _, clf, data = contender
            started = time.perf_counter()
            clf.fit(**data)
            longest = 0.7 * (time.perf_counter() - started)
            kills = [rng.uniform(0, longest) for _ in range(5)]
            total += compare("random times", contender, kills)
    print(f"{total} kills at random times\n")


def cost():
    """Print the processor seconds of fits with and without a journal."""
    rng = np.random.RandomState(0)
    X = rng.normal(size=(20_000, 32)).astype(np.float32)
    y = (X @ rng.normal(size=(32, 10))).argmax(axis=1)
    clf = skpresto.PrestoppingClassifier(max_epochs=30, random_state=0)
    for every in (30.0, 5.0, 0.0):
        best = {"plain": np.inf, "stored": np.inf}
        for way in [*best] * 7:
            started = time.process_time()
            is_stored, folder = way == "stored", tempfile.mkdtemp()
            with (
                skpresto.resumable(folder, every=every) if is_stored else nullcontext()
            ):
                clf.fit(X, y)
            best[way] = min(best[way], time.process_time() - started)
        ratio = best["stored"] / best["plain"] - 1
        print(f"every={every:g} s: {ratio:+.1%} of {best['plain']:.1f} s")


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--random", type=int, metavar="N", help="random kills")
    parser.add_argument("--cost", action="store_true", help="measure the cost")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    if arguments.cost:
        cost()
    elif arguments.random:
        at_random_times(arguments.random)
    else:
        at_every_write()


if __name__ == "__main__":
    main()
