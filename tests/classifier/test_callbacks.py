"""skorch callbacks given by the user."""

import threading

import numpy as np
import pytest
import torch
from sklearn.base import clone
from skorch.callbacks import Callback, Checkpoint, EpochScoring, LRScheduler

from skpresto import (
    CrossPrestoppingClassifier,
    DefaultClassifier,
    PrestoppingClassifier,
    SelfieClassifier,
)
from tests.discovery import StopAfter, every, on_paths, quick, short_fits_warn

pytestmark = short_fits_warn


class Collect(Callback):
    """Append what it sees to a list of the user's."""

    def __init__(self, seen):
        self.seen = seen
        self.n_initialized_ = 0

    def initialize(self):
        self.n_initialized_ += 1
        return self

    def on_epoch_end(self, net, **kwargs):
        epoch = net.history[-1, "epoch"]
        self.seen.append((epoch, net.stage_, len(net.history)))


@on_paths()
def test_a_callback_fills_the_list_of_the_user(Classifier, noisy_blobs):
    X, y, _ = noisy_blobs
    seen = []
    clf = quick(Classifier, callbacks=[Collect(seen)]).fit(X, y)
    assert len(seen) == len(clf.history_) == len(clf.net_.history)
    epochs, stages, lengths = zip(*seen, strict=True)
    assert len(set(epochs)) == len(epochs)
    assert list(epochs) == sorted(epochs)
    assert list(lengths) == list(range(1, len(seen) + 1))
    assert list(stages) == [record.stage for record in clf.history_]
    losses = clf.net_.history[:, "train_loss"]
    n_networks = [
        loss / r.train_loss for loss, r in zip(losses, clf.history_, strict=True)
    ]
    assert n_networks == pytest.approx(np.round(n_networks))


@on_paths()
def test_the_same_callback_goes_on_in_a_second_fit(Classifier, noisy_blobs):
    X, y, _ = noisy_blobs
    seen = []
    callback = Collect(seen)
    clf = quick(Classifier, callbacks=[("collect", callback)], max_epochs=6).fit(X, y)
    n_first, n_initialized = len(seen), callback.n_initialized_
    assert n_initialized >= 1
    clf.fit(X, y)
    assert callback.n_initialized_ == 2 * n_initialized
    assert seen[n_first:] == seen[:n_first]
    assert dict(clf.net_.callbacks_)["collect"] is callback


def test_a_clone_has_a_copy_of_the_callback(noisy_blobs):
    X, y, _ = noisy_blobs
    seen = []
    clf = quick(DefaultClassifier, callbacks=[Collect(seen)])
    clone(clf).fit(X, y)
    assert seen == []


@on_paths("one stage", "new start", "folds")
@pytest.mark.parametrize("is_validated", [True, False])
def test_a_checkpoint_follows_the_lowest_loss(
    Classifier, is_validated, noisy_blobs, tmp_path
):
    X, y, y_true = noisy_blobs
    clf = quick(Classifier, callbacks=[Checkpoint(dirname=tmp_path)], max_epochs=6)
    if is_validated:
        clf.fit(X[100:], y[100:], X_val=X[:100], y_val=y_true[:100])
    else:
        with pytest.warns(UserWarning, match="no validation data"):
            clf.fit(X, y)
    history = clf.net_.history
    losses = history[:, "valid_loss" if is_validated else "train_loss"]
    lowest = [loss == min(losses[: i + 1]) for i, loss in enumerate(losses)]
    assert history[:, "valid_loss_best"] == history[:, "event_cp"] == lowest
    assert (tmp_path / "params.pt").exists()


def test_the_loss_of_validation_data_is_that_of_all_rows(noisy_blobs):
    X, y, y_true = noisy_blobs
    clf = quick(DefaultClassifier, callbacks=[Collect([])], max_epochs=3)
    clf.set_params(batch_size=64).fit(X, y, X_val=X[:100], y_val=y_true[:100])
    p = clf.predict_proba(X[:100])[
        np.arange(100), np.searchsorted(clf.classes_, y_true[:100])
    ]
    assert clf.net_.history[-1, "valid_loss"] == pytest.approx(
        -np.log(p).mean(), rel=1e-5
    )


class Writer(Callback):
    """Like a writer of logs, it holds what cannot be copied."""

    def __init__(self):
        self.lock = threading.Lock()
        self.n_lines = 0

    def on_epoch_end(self, net, **kwargs):
        with self.lock:
            self.n_lines += 1


@on_paths("new start", "folds")
def test_a_callback_that_cannot_be_copied_works(Classifier, noisy_blobs):
    X, y, y_true = noisy_blobs
    writer = Writer()
    clf = quick(Classifier, callbacks=[writer], max_epochs=6)
    clf.fit(X, y, X_val=X[:50], y_val=y_true[:50])
    assert writer.n_lines == len(clf.history_)


@on_paths("one stage", "two networks", "folds")
@pytest.mark.parametrize("use_caching", [True, False])
def test_scoring_callbacks_score_the_validation_data(
    Classifier, use_caching, noisy_blobs
):
    X, y, y_true = noisy_blobs
    score = EpochScoring(
        "accuracy",
        lower_is_better=False,
        name="valid_acc",
        use_caching=use_caching,
    )
    clf = quick(Classifier, callbacks=[score], max_epochs=6)
    clf.fit(X[100:], y[100:], X_val=X[:100], y_val=y_true[:100])
    history = clf.net_.history
    scores = np.array(history[:, "valid_acc"])
    errors = np.array([record.valid_error for record in clf.history_])
    assert scores == pytest.approx(1 - errors)
    assert len(np.unique(scores)) > 1
    assert history[-1, "valid_acc_best"] in (True, False)
    assert history[:, "valid_error"] == errors.tolist()


def test_without_validation_data_a_scoring_callback_records_nothing(noisy_blobs):
    X, y, _ = noisy_blobs
    score = EpochScoring("accuracy", lower_is_better=False, name="valid_acc")
    clf = quick(DefaultClassifier, callbacks=[score], max_epochs=2).fit(X, y)
    assert "valid_acc" not in clf.net_.history[-1]


@on_paths("two phases", "gradients")
def test_a_callback_that_reads_changes_no_bit(Classifier, noisy_blobs):
    X, y, y_true = noisy_blobs
    score = EpochScoring("accuracy", lower_is_better=False, name="valid_acc")
    valid = {"X_val": X[:100], "y_val": y_true[:100]}
    plain = quick(Classifier, max_epochs=6).fit(X, y, **valid)
    scored = quick(Classifier, max_epochs=6, callbacks=[score]).fit(X, y, **valid)
    assert np.array_equal(plain.predict_proba(X), scored.predict_proba(X))


class Pairs(Callback):
    """Write down when training begins and ends, and with which networks."""

    def __init__(self):
        self.events = []

    def on_train_begin(self, net, **kwargs):
        self.events.append(("begin", id(net.module_)))
        self.module = net.module_  # so that its id is not used again

    def on_train_end(self, net, **kwargs):
        self.events.append(("end", None))


#: How often methods start with new networks that do so more than once.
N_STARTS = {
    "CrossPrestoppingClassifier": 2,  # fold networks, final networks
    "ForwardCorrectionClassifier": 2,  # estimate, train
    "INCVClassifier": 3,  # two halves, final networks
    "ITLMClassifier": 2,
    "PrestoppingPlusClassifier": 2,
}


@every
def test_begin_and_end_of_training_are_paired_once_per_start(Classifier, noisy_blobs):
    X, y, _ = noisy_blobs
    pairs = Pairs()
    quick(Classifier, callbacks=[pairs]).fit(X, y)
    names = [name for name, _ in pairs.events]
    assert names == ["begin", "end"] * N_STARTS.get(Classifier.__name__, 1)


def test_every_restart_begins_and_ends(noisy_blobs):
    X, y, _ = noisy_blobs
    pairs = Pairs()
    quick(SelfieClassifier, callbacks=[pairs], restarts=2, max_epochs=5).fit(X, y)
    assert [name for name, _ in pairs.events] == ["begin", "end"] * 3


class TrialPruned(Exception):
    """What Optuna raises to end a trial."""


class Prune(Callback):
    """Report every epoch to a trial, and end it after some, as Optuna's callback."""

    def __init__(self, n_epochs):
        self.n_epochs = n_epochs
        self.steps = []

    def on_epoch_end(self, net, **kwargs):
        step = len(net.history) - 1
        self.steps.append(step)
        if len(self.steps) == self.n_epochs:
            raise TrialPruned(f"after step {step}")


@on_paths("two phases", "folds", "rounds")
@pytest.mark.parametrize("n_epochs", [1, 7])
def test_a_pruning_callback_ends_the_fit(Classifier, n_epochs, noisy_blobs):
    X, y, _ = noisy_blobs
    prune = Prune(n_epochs)
    clf = quick(Classifier, callbacks=[prune])
    if "stop" in clf.get_params():
        clf.set_params(stop=StopAfter(4))  # seven epochs reach a second stage
    n_threads, state = torch.get_num_threads(), torch.get_rng_state()
    with pytest.raises(TrialPruned, match=f"after step {n_epochs - 1}$"):
        clf.fit(X, y)
    assert prune.steps == list(range(n_epochs))
    assert not [name for name in vars(clf) if name.endswith("_")]
    assert torch.get_num_threads() == n_threads
    assert torch.equal(torch.get_rng_state(), state)
    # The next fit is whole, and its steps begin anew.
    prune.n_epochs, prune.steps = None, []
    clf.fit(X, y)
    assert prune.steps == list(range(len(clf.history_)))


def test_a_pruning_callback_keeps_an_earlier_fit(noisy_blobs):
    X, y, _ = noisy_blobs
    clf = quick(DefaultClassifier).fit(X, y)
    expected = clf.predict_proba(X)
    clf.set_params(callbacks=[Prune(3)])
    with pytest.raises(TrialPruned):
        clf.fit(X, y)
    assert np.array_equal(clf.predict_proba(X), expected)


def test_epochs_that_are_undone_stay_in_the_history_of_the_net(noisy_blobs):
    X, y, _ = noisy_blobs

    class Earlier(StopAfter):
        """Go back by two epochs."""

        def candidate(self, records):
            return max(0, len(records) - 3)

    seen = []
    clf = quick(
        PrestoppingClassifier, stop=Earlier(5), callbacks=[Collect(seen)], max_epochs=8
    ).fit(X, y)
    assert [r.epoch for r in clf.history_] == [1, 2, 3, 4, 5, 4, 5, 6, 7, 8]
    assert [epoch for epoch, _, _ in seen] == list(range(1, 11))


RATES = [0.1 * 0.5**i for i in range(30)]


@pytest.mark.parametrize("step_every", ["epoch", "batch"])
@pytest.mark.parametrize(
    ("Classifier", "params"),
    [
        (SelfieClassifier, {"restarts": 2}),
        (CrossPrestoppingClassifier, {"stop": StopAfter(3)}),
    ],
)
def test_a_schedule_starts_afresh_with_new_networks(
    Classifier, params, step_every, noisy_blobs
):
    X, y, _ = noisy_blobs
    per_epoch = 7 if step_every == "batch" else 1  # 400 samples in batches of 64
    schedule = LRScheduler(
        torch.optim.lr_scheduler.StepLR,
        step_size=per_epoch,
        gamma=0.5,
        step_every=step_every,
        event_name=None,
    )
    settings = {"max_epochs": 6, "q": 3, "callbacks": [schedule], "lr": 0.1}
    clf = quick(Classifier, **{**settings, **params}).fit(X, y)
    by_epoch = [RATES[record.epoch - 1] for record in clf.history_]
    assert [r.learning_rate for r in clf.history_] == pytest.approx(by_epoch)
    assert sum(record.epoch == 1 for record in clf.history_) >= 3


def test_the_batches_of_all_epochs_are_kept_for_callbacks(noisy_blobs):
    X, y, _ = noisy_blobs
    with_callback = quick(DefaultClassifier, callbacks=[Collect([])], max_epochs=3)
    plain = quick(DefaultClassifier, max_epochs=3)
    counts = [
        [len(row["batches"]) for row in clf.fit(X, y).net_.history]
        for clf in (with_callback, plain)
    ]
    assert counts == [[7, 7, 7], [0, 0, 7]]
