"""Damage stored fits, change fits, and write them in other words.

    python benchmarks/resume/tamper.py --bits 2000      # single bits of stored files
    python benchmarks/resume/tamper.py --changed 300    # fits that differ in one thing
    python benchmarks/resume/tamper.py --unchanged 60   # equal fits in other words
    python benchmarks/resume/tamper.py --cost           # of fingerprint and checksums

Without options, the first three. A damaged fit must end with the result of an undamaged
one or with an error, a changed fit with an error, and an equal fit must go on from
where it was and end with the bits of an uninterrupted one.
"""

import argparse
import contextlib
import tempfile
import time
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
import torch
from changes import CHANGES, CHANGES_OF, CLASSIFIERS, problem
from kill import digest
from same import SAME

import skpresto
from skpresto._resume import files, folder
from skpresto._resume.journal import FitJournal
from skpresto._training.stage import StageRun
from skpresto.exceptions import ResumeWarning
from skpresto.stopping import LabelWaveStop

#: Epochs after which a fit is killed.
N_EPOCHS = 4
NEVER = 1e9
REFUSED, BACK, SAME_BITS, DIFFERENT = (
    "refused",
    "went back, with a warning",
    "the same bits",
    "ANOTHER RESULT WITHOUT A WORD",
)


class Killed(BaseException):
    """Stands for the end of the process."""


def classifier(kind, params=None):
    """Return a classifier that trains in a moment."""
    settings = {"max_epochs": 6, "random_state": 0, "q": 4, "batch_size": 16}
    few = {"CoTeachingPlusClassifier": {"noise_rate": 0.2}}
    few["CrossPrestoppingClassifier"] = {"cv": 2}
    # The default rule holds rows out, which excludes samplers.
    few["PrestoppingClassifier"] = {"stop": LabelWaveStop()}
    return kind(**{**settings, **few.get(kind.__name__, {}), **(params or {})})


def fit(kind, where=None, params=None, data=None, *, every=NEVER):
    """Fit, maybe in a folder; return a digest of the result."""
    data = {**problem(), **(data or {})}
    block = contextlib.nullcontext()
    if where is not None:
        block = skpresto.resumable(where, every=every, keep=True)
    clf = classifier(kind, params)
    with block:
        clf.fit(**data)
    return digest(clf, data["X"])


def killed(kind, where, params=None, data=None):
    """Fit in a folder, and end after some epochs."""
    save, count = FitJournal.save, iter(range(1, 10**6))

    def save_and_end(self, run):
        save(self, run)
        if next(count) == N_EPOCHS:
            raise Killed

    FitJournal.save = save_and_end
    try:
        fit(kind, where, params, data, every=0)
    except Killed:
        return
    finally:
        FitJournal.save = save
    raise RuntimeError("The fit ended before it was killed.")


def flip_bits(n_bits):
    """Flip single bits of stored fits, one at a time; return what came of it."""
    rng, total = np.random.RandomState(0), Counter()
    for kind in CLASSIFIERS:
        found = Counter()
        with tempfile.TemporaryDirectory() as name:
            where = Path(name) / "fit"
            expected = fit(kind)
            killed(kind, where)
            stored = [p for p in sorted(where.rglob("*")) if p.is_file()]
            stored = [path for path in stored if path.stat().st_size]
            for _ in range(n_bits // len(CLASSIFIERS)):
                path = stored[rng.randint(len(stored))]
                found[flip_one(kind, where, path, rng, expected)] += 1
        print(f"{kind.__name__:28s} {len(stored)} files  {dict(found)}", flush=True)
        total += found
    return total


def flip_one(kind, where, path, rng, expected):
    """Flip a bit, fit, and put the bit back."""
    whole = path.read_bytes()
    damaged = bytearray(whole)
    damaged[rng.randint(len(whole))] ^= 1 << rng.randint(8)
    path.write_bytes(damaged)
    try:
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            found = fit(kind, where)
    except ValueError as error:
        if "is damaged" not in str(error):
            raise
        return REFUSED
    finally:
        path.write_bytes(whole)
    if found != expected:
        return DIFFERENT
    is_told = any(w.category is ResumeWarning for w in told)
    return BACK if is_told else SAME_BITS


def change_fits(n_fits):
    """Resume fits that differ in one thing; return how many were refused."""
    rng, total, resumed = np.random.RandomState(1), Counter(), []
    for number in range(n_fits):
        kind = CLASSIFIERS[number % len(CLASSIFIERS)]
        changes = {**CHANGES, **CHANGES_OF.get(kind.__name__, {})}
        name = [*changes][rng.randint(len(changes))]
        before, now = changes[name](rng)
        with tempfile.TemporaryDirectory() as where:
            fit(kind, f"{where}/fit", before.params, before.data, every=0)
            assert (Path(where) / "fit" / "fit-00001").exists(), name
            try:
                fit(kind, f"{where}/fit", now.params, now.data)
                resumed.append(f"{kind.__name__}: {name}")
            except ValueError as error:
                if "cannot resume fit 1" not in str(error):
                    raise
                total[name] += 1
    print(f"{len(total)} kinds of changes: {dict(total)}")
    print(f"{total.total()} of {n_fits} changed fits refused, resumed: {resumed}")
    return resumed


def write_anew(n_fits):
    """Resume equal fits in other words; return those that were not or differ."""
    rng, failed, n_resumed = np.random.RandomState(2), [], 0
    for number in range(n_fits):
        kind = CLASSIFIERS[rng.randint(len(CLASSIFIERS))]
        name = [*SAME][number % len(SAME)]
        before, now = SAME[name](np.random.RandomState(number))
        expected = fit(kind, None, before.params, before.data)
        before, now = SAME[name](np.random.RandomState(number))  # nothing is used up
        with tempfile.TemporaryDirectory() as where:
            killed(kind, f"{where}/fit", before.params, before.data)
            try:
                with counted_resumes() as resumes:
                    found = fit(kind, f"{where}/fit", now.params, now.data)
            except ValueError as error:
                failed.append(f"{name}: {error}")
                continue
        n_resumed += bool(resumes)
        if not resumes or found != expected:
            failed.append(f"{name}: {len(resumes)} stages resumed")
    print(f"{n_resumed} of {n_fits} equal fits resumed; other bits or not: {failed}")
    return failed


@contextlib.contextmanager
def counted_resumes():
    """Yield a list with an entry for each stage that went on."""
    load, found = StageRun.load_state_dict, []

    def load_and_count(self, *args):
        load(self, *args)
        found.append(self.stage.name)

    StageRun.load_state_dict = load_and_count
    try:
        yield found
    finally:
        StageRun.load_state_dict = load


def cost():
    """Print the processor time of fingerprint and checksums, beside that of a fit."""
    rng = np.random.RandomState(0)
    X = rng.normal(size=(20_000, 32)).astype(np.float32)
    y = (X @ rng.normal(size=(32, 10))).argmax(axis=1)
    clf = skpresto.PrestoppingClassifier(max_epochs=30, random_state=0)
    spent = Counter()
    folder.fingerprint = timed(folder.fingerprint, "fingerprint", spent)
    update, seal = spent_in_updates(spent), files._seal
    files._seal = lambda name, key: update(seal(name, key))
    for every in (30.0, 5.0, 0.0):
        best = []
        for _ in range(3):
            spent.clear()
            started = time.process_time()
            with tempfile.TemporaryDirectory() as name:
                fit_in(Path(name) / "fit", every, clf, X, y)
            whole = time.process_time() - started
            best.append((spent["fingerprint"], spent["checksums"], whole))
        found = np.min(best, axis=0)
        share = (found[0] + found[1]) / found[2]
        print(
            f"every={every:g}: fingerprint {1e3 * found[0]:.1f} ms, checksums "
            f"{1e3 * found[1]:.1f} ms, fit {found[2]:.2f} s: {share:.2%}",
            flush=True,
        )


def fit_in(where, every, clf, X, y):
    with skpresto.resumable(where, every=every):
        clf.fit(X, y)


def timed(function, name, spent):
    """Return a function that adds up the processor time of its calls."""

    def call(*args):
        started = time.process_time()
        result = function(*args)
        spent[name] += time.process_time() - started
        return result

    return call


def spent_in_updates(spent):
    """Return a wrapper of hashes that adds up the processor time of updates."""

    class Timed:
        def __init__(self, found):
            self.update = timed(found.update, "checksums", spent)
            self.hexdigest = found.hexdigest

    return Timed


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--bits", type=int, metavar="N", help="number of bits to flip")
    parser.add_argument("--changed", type=int, metavar="N", help="fits that differ")
    parser.add_argument("--unchanged", type=int, metavar="N", help="fits that do not")
    parser.add_argument("--cost", action="store_true", help="measure the cost")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    if arguments.cost:
        cost()
        return
    wanted = arguments.bits, arguments.changed, arguments.unchanged
    bits, changed, unchanged = wanted if any(wanted) else (2000, 300, 60)
    failures = []
    if bits:
        found = flip_bits(bits)
        print(f"{found.total()} flipped bits: {dict(found)}\n")
        failures += [DIFFERENT] * found[DIFFERENT]
    if changed:
        failures += change_fits(changed)
    if unchanged:
        failures += write_anew(unchanged)
    if failures:
        raise SystemExit(f"{len(failures)} failures")


if __name__ == "__main__":
    main()
