"""Fits that end before their time, and what they are compared by."""

from dataclasses import asdict

import numpy as np

import skpresto
from skpresto._resume.journal import FitJournal


class Killed(BaseException):
    """Stands for the end of the process."""


def everything(clf, X):
    """Return what a fit computed, without times."""
    records = [{**asdict(record), "seconds": 0} for record in clf.history_]
    weights = [w.cpu().numpy() for w in clf.net_.module_.state_dict().values()]
    arrays = {
        name: np.asarray(value)
        for name, value in vars(clf).items()
        if name.endswith("_") and isinstance(value, (np.ndarray, int, float))
    }
    return {
        "records": repr(records),
        "weights": [w.tobytes() for w in weights],
        "probabilities": clf.predict_proba(X).tobytes(),
        **{name: array.tobytes() for name, array in arrays.items()},
    }


def kill_after(monkeypatch, n_writes, method=FitJournal.save):
    """Let the process end after so many epochs were stored."""
    count = iter(range(1, n_writes + 1))

    def save(self, run):
        method(self, run)
        if next(count) == n_writes:
            raise Killed

    monkeypatch.setattr(FitJournal, "save", save)


def fit_with_kills(monkeypatch, clf, X, y, folder, n_epochs_each):
    """Fit in attempts of a few epochs each; return the number of kills."""
    save = FitJournal.save
    for n_kills in range(100):
        kill_after(monkeypatch, n_epochs_each, save)
        try:
            with skpresto.resumable(folder, every=0):
                clf.fit(X, y)
        except Killed:
            continue
        except StopIteration:  # pragma: no cover
            raise AssertionError("a kill did not end the fit") from None
        finally:
            monkeypatch.setattr(FitJournal, "save", save)
        return n_kills
    raise AssertionError("the fit never ended")
