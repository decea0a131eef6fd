"""Ctrl-C in a fit that is to keep what has been trained."""

import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from skorch.callbacks import Callback

from skpresto import (
    CoTeachingClassifier,
    CrossPrestoppingClassifier,
    DefaultClassifier,
    PrestoppingClassifier,
    PrestoppingPlusClassifier,
    SelfieClassifier,
    keep_interrupted,
)
from skpresto._training.checkpoint import Checkpoint
from skpresto.stopping import NoiseRateStop
from tests.discovery import StopAfter, on_paths, quick


class CtrlC(Callback):
    """Press Ctrl-C in an epoch of a stage, at its begin, in a batch or at its end."""

    def __init__(self, stage=None, epoch=2, moment="on_epoch_begin"):
        self.stage = stage
        self.epoch = epoch
        self.moment = moment

    def initialize(self):
        # Called for every start with new networks, also in the middle of a fit.
        self.seen_ = getattr(self, "seen_", 0)
        return self

    def press(self, net, moment):
        if self.stage not in (None, net.stage_):
            return
        self.seen_ += moment == "on_epoch_begin"
        if moment == self.moment and self.seen_ == self.epoch:
            raise KeyboardInterrupt

    def on_epoch_begin(self, net, **kwargs):
        self.press(net, "on_epoch_begin")

    def on_batch_begin(self, net, training=True, **kwargs):
        self.press(net, "on_batch_begin")

    def on_grad_computed(self, net, *args, **kwargs):
        self.press(net, "on_grad_computed")

    def on_batch_end(self, net, training=True, **kwargs):
        self.press(net, "on_batch_end")

    def on_epoch_end(self, net, **kwargs):
        self.press(net, "on_epoch_end")


def fit_interrupted(clf, X, y, match="was interrupted in the stage"):
    with keep_interrupted(), pytest.warns(ConvergenceWarning, match=match):
        return clf.fit(X, y)


def assert_usable(clf, X, y):
    assert clf.is_interrupted_
    assert clf.predict_proba(X).sum(axis=1) == pytest.approx(np.ones(len(X)), abs=1e-5)
    assert set(clf.predict(X)) <= set(clf.classes_)
    assert clf.safe_mask_.shape == clf.label_quality_.shape == y.shape
    assert np.array_equal(clf.label_quality_, clf.label_agreement_)
    assert np.array_equal(clf.safe_mask_, clf.suggested_labels_ == y)
    assert 1 <= clf.n_epochs_ <= clf.max_epochs


@on_paths("one stage", "two networks", "gradients")
@pytest.mark.parametrize(
    "moment", ["on_epoch_begin", "on_batch_begin", "on_grad_computed", "on_batch_end"]
)
def test_what_was_trained_is_kept(Classifier, moment, noisy_blobs):
    X, y, _ = noisy_blobs
    clf = quick(Classifier, callbacks=[CtrlC(epoch=3, moment=moment)])
    fit_interrupted(clf, X, y, f"{Classifier.__name__}: .*after 2 of 12 epochs")
    assert_usable(clf, X, y)
    assert len(clf.history_) == clf.n_epochs_ == 2


STAGES = [
    (PrestoppingClassifier, "phase 1", {}),
    (PrestoppingClassifier, "phase 2", {}),
    (PrestoppingPlusClassifier, "phase 2", {}),
    (PrestoppingPlusClassifier, "final", {}),
    (CrossPrestoppingClassifier, "search", {}),
    (CrossPrestoppingClassifier, "cross-fit phase 1", {}),
    (CrossPrestoppingClassifier, "cross-fit phase 2", {}),
    (CrossPrestoppingClassifier, "final", {}),
    (CoTeachingClassifier, "noise rate phase 1", {"noise_rate": None}),
    (CoTeachingClassifier, "train", {"noise_rate": None}),
    (SelfieClassifier, "restart 1", {"restarts": 1}),
]


@pytest.mark.parametrize("epoch", [1, 2])
@pytest.mark.parametrize(("Classifier", "stage", "params"), STAGES)
def test_every_stage_can_be_interrupted(Classifier, stage, params, epoch, noisy_blobs):
    """In the first epoch of a stage, the networks of the stage before are kept."""
    X, y, _ = noisy_blobs
    if "Prestopping" in Classifier.__name__:
        params = {"stop": StopAfter(3)}
    moment = "on_batch_end"
    callbacks = [CtrlC(stage, epoch, moment)]
    clf = quick(Classifier, callbacks=callbacks, **params)
    if (stage, epoch) in {("phase 1", 1), ("search", 1), ("noise rate phase 1", 1)}:
        with keep_interrupted(), pytest.raises(KeyboardInterrupt):
            clf.fit(X, y)
        assert not [name for name in vars(clf) if name.endswith("_")]
        return
    fit_interrupted(clf, X, y, f"in the stage {stage!r}")
    assert_usable(clf, X, y)
    assert clf.score(X, y) > 0.4


def test_a_checkpoint_is_restored_whole(noisy_blobs, monkeypatch):
    X, y, _ = noisy_blobs
    restore, calls = Checkpoint.restore, []

    def interrupted(self, net, history):
        calls.append(self.n_epochs)
        if len(calls) == 1:
            raise KeyboardInterrupt
        restore(self, net, history)

    monkeypatch.setattr(Checkpoint, "restore", interrupted)
    clf = quick(PrestoppingClassifier, stop=NoiseRateStop(0.35))
    fit_interrupted(clf, X, y)
    assert calls == [calls[0]] * 2
    assert_usable(clf, X, y)


def test_without_the_block_ctrl_c_reaches_the_caller(noisy_blobs):
    X, y, _ = noisy_blobs
    clf = quick(DefaultClassifier, callbacks=[CtrlC()])
    with keep_interrupted():
        pass
    with pytest.raises(KeyboardInterrupt):
        clf.fit(X, y)
    assert not [name for name in vars(clf) if name.endswith("_")]


@pytest.mark.filterwarnings("ignore:.*was settled")
@on_paths("two phases", "rounds")
def test_a_complete_fit_is_not_flagged_and_has_the_same_bits(Classifier, noisy_blobs):
    X, y, _ = noisy_blobs
    plain = quick(Classifier).fit(X, y)
    with keep_interrupted():
        inside = quick(Classifier).fit(X, y)
    assert not plain.is_interrupted_
    assert not inside.is_interrupted_
    assert np.array_equal(plain.predict_proba(X), inside.predict_proba(X))


def test_a_search_goes_on_with_its_next_fit(noisy_blobs):
    X, y, _ = noisy_blobs
    clf = quick(DefaultClassifier, max_epochs=3, callbacks=[CtrlC()])
    search = GridSearchCV(clf, {"lr": [0.05, 0.1]}, cv=2)
    with keep_interrupted(), pytest.warns(ConvergenceWarning, match="interrupted"):
        search.fit(X, y)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


SCRIPT = """
    import signal

    import numpy as np
    from skorch.callbacks import Callback
    from skpresto import PrestoppingClassifier, keep_interrupted

    # A shell may start programs in the background with this signal ignored.
    signal.signal(signal.SIGINT, signal.default_int_handler)

    class Say(Callback):
        def on_epoch_end(self, net, **kwargs):
            print(len(net.history), flush=True)

    X = np.random.RandomState(0).normal(size=(300, 4)).astype(np.float32)
    y = (X[:, 0] > 0).astype(int)
    clf = PrestoppingClassifier(max_epochs=100_000, callbacks=[Say()], random_state=0)
    with keep_interrupted():
        clf.fit(X, y)
    print("kept", clf.is_interrupted_, clf.score(X, y) > 0.8, flush=True)
"""


@pytest.mark.skipif(os.name != "posix", reason="sends a signal")
def test_a_real_signal_is_answered():
    environment = {
        **os.environ,
        "PYTHONPATH": str(Path(__file__).parents[2]),
        "PYTHONWARNINGS": "ignore",
    }
    command = [sys.executable, "-c", textwrap.dedent(SCRIPT)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment) as process:
        while process.stdout.readline() != b"5\n":
            assert process.poll() is None
        process.send_signal(signal.SIGINT)
        rest, _ = process.communicate(timeout=60)
    assert rest.splitlines()[-1] == b"kept True True"
    assert process.returncode == 0
