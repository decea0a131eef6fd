"""Callbacks of scikit-learn 1.9: set_callbacks on every classifier."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skpresto import DefaultClassifier, PrestoppingClassifier
from tests.discovery import StopAfter, on_paths, quick, short_fits_warn

callback = pytest.importorskip("sklearn.callback", reason="needs scikit-learn 1.9")

pytestmark = short_fits_warn


class Remember:
    """Store the name of every task, and stop a stage after some epochs."""

    def __init__(self, stop_after=None):
        self.stop_after = stop_after
        self.events = []

    def setup(self, estimator, context):
        self.events.append("setup")

    def teardown(self, estimator, context):
        self.events.append("teardown")

    def on_fit_task_begin(self, estimator, context):
        self.events.append(f"begin {context.task_name}")

    def on_fit_task_end(self, estimator, context):
        self.events.append(f"end {context.task_name}")
        return context.task_name == "epoch" and context.task_id + 1 == self.stop_after

    def count(self, event):
        return self.events.count(event)


@on_paths()
def test_stages_and_epochs_are_tasks(Classifier, noisy_blobs):
    X, y, _ = noisy_blobs
    remember = Remember()
    clf = quick(Classifier).set_callbacks(remember).fit(X, y)
    assert remember.events[:2] == ["setup", "begin fit"]
    assert remember.events[-2:] == ["end fit", "teardown"]
    assert remember.count("end epoch") == len(clf.history_)
    stages = {record.stage for record in clf.history_}
    assert all(
        remember.count(f"begin {s}") == remember.count(f"end {s}") for s in stages
    )
    assert all(remember.count(f"end {s}") for s in stages)


@on_paths("two phases", "folds", "rounds")
def test_callbacks_do_not_change_the_result(Classifier, noisy_blobs):
    X, y, _ = noisy_blobs
    plain = quick(Classifier).fit(X, y)
    monitor = callback.ScoringMonitor(scoring="accuracy")
    followed = quick(Classifier).set_callbacks(monitor).fit(X, y)
    assert np.array_equal(plain.predict_proba(X), followed.predict_proba(X))
    assert np.array_equal(plain.label_quality_, followed.label_quality_)
    scores = [row["accuracy"] for row in monitor.get_logs().data if "accuracy" in row]
    assert len(scores) >= len(plain.history_)
    assert followed.score(X, y) in scores


def test_a_callback_can_end_a_stage(noisy_blobs):
    X, y, _ = noisy_blobs
    clf = quick(DefaultClassifier).set_callbacks(Remember(stop_after=3)).fit(X, y)
    assert clf.n_epochs_ == 3
    clf = quick(PrestoppingClassifier, stop=StopAfter(5))
    clf.set_callbacks(Remember(stop_after=2)).fit(X, y)
    assert [record.stage for record in clf.history_] == ["phase 1"] * 2 + [
        "phase 2"
    ] * 2


def test_callbacks_are_torn_down_if_the_fit_fails(noisy_blobs):
    X, y, _ = noisy_blobs
    remember = Remember()
    clf = quick(DefaultClassifier, lr=1e30).set_callbacks(remember)
    with pytest.raises(ValueError, match="Training diverged"):
        clf.fit(X, y)
    assert remember.events[-1] == "teardown"
    assert "end fit" not in remember.events
    assert [name for name in vars(clf) if name.startswith("_callback")] == []


@on_paths("two phases", "folds")
def test_progress_bar_of_scikit_learn(Classifier, noisy_blobs, capsys):
    pytest.importorskip("rich")
    X, y, _ = noisy_blobs
    clf = quick(Classifier, max_epochs=4).set_callbacks(callback.ProgressBar())
    clf.fit(X, y)
    shown = capsys.readouterr().out
    assert f"{Classifier.__name__} - fit" in shown
    assert clf.history_[0].stage in shown


def test_progress_bar_of_a_search_over_a_pipeline(noisy_blobs, capsys):
    pytest.importorskip("rich")
    X, y, _ = noisy_blobs
    pipe = make_pipeline(StandardScaler(), quick(DefaultClassifier, max_epochs=2))
    search = GridSearchCV(pipe, {"defaultclassifier__lr": [0.1, 0.01]}, cv=2)
    search.set_callbacks(callback.ProgressBar(max_propagation_depth=None)).fit(X, y)
    assert "DefaultClassifier" in capsys.readouterr().out


def test_clones_keep_callbacks_and_fitted_ones_can_be_stored(noisy_blobs):
    X, y, _ = noisy_blobs
    clf = quick(DefaultClassifier).set_callbacks(Remember())
    copied = clone(clf).fit(X, y)
    assert pickle.loads(pickle.dumps(copied)).score(X, y) == copied.score(X, y)
    assert "setup" in copied._skl_callbacks[0].events
