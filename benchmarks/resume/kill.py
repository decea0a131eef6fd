"""Kill fits with SIGKILL, start them again, and compare the results bit by bit.

    python benchmarks/resume/kill.py              # after every epoch, during writes
    python benchmarks/resume/kill.py --random 100 # that many kills at random times
    python benchmarks/resume/kill.py --cost       # what storing the progress costs

Each attempt is a process of its own, which resumes in the folder of the one before. A
fit is compared with an uninterrupted one: weights, probabilities, records without
times, and all fitted attributes.
"""

import argparse
import hashlib
import os
import random
import signal
import sys
import tempfile
import time
import traceback
import warnings
from dataclasses import asdict
from pathlib import Path

import numpy as np
import torch
from sklearn.datasets import load_digits
from skorch.callbacks import LRScheduler

import skpresto
from skpresto import baselines
from skpresto._resume import files
from skpresto._resume.journal import FitJournal

COSINE = torch.optim.lr_scheduler.CosineAnnealingLR


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
        if name.endswith("Classifier"):
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


def attempt(clf, data, folder, out, before=None):
    """Fit in a child process; return its process id."""
    child = os.fork()
    if child:
        return child
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    try:
        if before is not None:
            before()
        with skpresto.resumable(folder, every=0):
            clf.fit(**data)
        Path(out).write_text(digest(clf, data["X"]))
        os._exit(0)
    except BaseException:
        traceback.print_exc()
        os._exit(1)


def kill_self_at(n_writes, when):
    """Return a function that lets the process kill itself at its n-th write."""

    def prepare():
        counter = iter(range(1, n_writes + 1))

        def count(*args, **kwargs):
            if next(counter, None) in (None, n_writes):
                os.kill(os.getpid(), signal.SIGKILL)

        if when == "after an epoch":
            original = FitJournal.save
            FitJournal.save = lambda *a: (original(*a), count())
        else:  # half of the file is written, and not yet in its place
            original = torch.save

            def half(state, file):
                original(state, file)
                file.truncate(file.tell() // 2)
                count()
                file.seek(0)
                original(state, file)

            files.torch.save = half

    return prepare


def until_done(clf, data, folder, kills):
    """Start and kill until a fit ends; return its digest and the number of kills."""
    out, n_kills = folder / "digest", 0
    for kill in kills:
        child = attempt(clf, data, folder / "fit", out, getattr(kill, "prepare", None))
        if callable(kill):
            kill(child)
        _, status = os.waitpid(child, 0)
        if out.exists():
            break
        assert os.WIFSIGNALED(status), f"the attempt failed with status {status}"
        n_kills += 1
    return out.read_text(), n_kills


class SelfKill:
    """A kill that the process makes itself, at a certain write."""

    def __init__(self, n_writes, when):
        self.prepare = kill_self_at(n_writes, when)


def at_random(rng, longest):
    """Yield kills after random times, and in the end none."""

    def kill(child):
        time.sleep(rng.uniform(0, longest))
        os.kill(child, signal.SIGKILL)

    for _ in range(5):
        yield kill
    yield None


def endless(when):
    """Yield a kill at the first write of every attempt: one epoch each."""
    for _ in range(200):
        yield SelfKill(1, when)
        if when != "after an epoch":  # or the fit would never get any further
            yield SelfKill(3, when)


def compare(clf, data, kills):
    """Return whether a killed fit equals an uninterrupted one, and its kills."""
    with tempfile.TemporaryDirectory() as folder:
        whole, killed = Path(folder) / "whole", Path(folder) / "killed"
        whole.mkdir()
        killed.mkdir()
        expected, _ = until_done(clf, data, whole, [None])
        found, n_kills = until_done(clf, data, killed, kills)
    return expected == found, n_kills


def report(name, is_equal, n_kills):
    print(f"{name:45s} {n_kills:4d} kills  {'equal' if is_equal else 'DIFFERENT'}")
    sys.stdout.flush()


def at_every_epoch():
    for when in ("after an epoch", "during a write"):
        total = 0
        for name, clf, data in contenders():
            is_equal, n_kills = compare(clf, data, endless(when))
            total += n_kills
            report(f"{when}: {name}", is_equal, n_kills)
        print(f"{total} kills {when}\n")


def at_random_times(n_wanted):
    rng, total = random.Random(0), 0
    while total < n_wanted:
        for name, clf, data in contenders():
            started = time.perf_counter()
            clf.fit(**data)
            longest = 0.7 * (time.perf_counter() - started)
            is_equal, n_kills = compare(clf, data, at_random(rng, longest))
            total += n_kills
            report(f"random times: {name}", is_equal, n_kills)
    print(f"{total} kills at random times\n")


def cost():
    """Print the processor seconds of fits with and without a journal."""
    rng = np.random.RandomState(0)
    X = rng.normal(size=(20_000, 32)).astype(np.float32)
    y = (X @ rng.normal(size=(32, 10))).argmax(axis=1)
    clf = skpresto.PrestoppingClassifier(max_epochs=30, random_state=0)
    for every in (30.0, 5.0, 0.0):
        best = {"plain": np.inf, "stored": np.inf}
        for _ in range(7):
            started = time.process_time()
            clf.fit(X, y)
            best["plain"] = min(best["plain"], time.process_time() - started)
            started = time.process_time()
            folder = tempfile.mkdtemp()
            with skpresto.resumable(folder, every=every):
                clf.fit(X, y)
            best["stored"] = min(best["stored"], time.process_time() - started)
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
        at_every_epoch()


if __name__ == "__main__":
    main()
