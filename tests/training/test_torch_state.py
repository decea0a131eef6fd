"""torch's random state and number of threads, during a call and after it."""

import threading

import numpy as np
import pytest
import torch
from skorch.callbacks import Callback

from skpresto import DefaultClassifier
from skpresto._training.torch_state import fit_turn, n_threads_of, predict_threads
from tests.discovery import quick

#: Seconds after which a test that hangs fails.
PATIENCE = 30


@pytest.fixture
def three_threads():
    """Let torch use three threads, as a caller may have chosen."""
    before = torch.get_num_threads()
    torch.set_num_threads(3)
    yield
    torch.set_num_threads(before)


@pytest.mark.usefixtures("three_threads")
@pytest.mark.parametrize(
    ("context", "n_threads"),
    [
        (fit_turn(0, "cpu"), 1),
        (predict_threads(2), 2),
        (predict_threads(None), 1),
    ],
)
def test_the_number_of_threads_is_set_and_restored_also_after_an_error(
    context, n_threads
):
    def interrupted():
        assert torch.get_num_threads() == n_threads
        with predict_threads(4):
            assert torch.get_num_threads() == 4
        assert torch.get_num_threads() == n_threads
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), context:
        interrupted()
    assert torch.get_num_threads() == 3


@pytest.mark.usefixtures("three_threads")
def test_a_prediction_in_another_thread_leaves_the_fit_its_number_of_threads():
    def predict():
        with predict_threads(1):
            assert torch.get_num_threads() == 1

    with fit_turn(0, "cpu"):
        torch.set_num_threads(2)
        other = threading.Thread(target=predict)
        other.start()
        other.join()
        assert torch.get_num_threads() == 2
    assert torch.get_num_threads() == 3


def test_number_of_threads_as_joblib_counts(monkeypatch):
    monkeypatch.setattr("joblib.cpu_count", lambda: 8)
    assert [n_threads_of(n) for n in (None, 1, 5, -1, -2, -20)] == [1, 1, 5, 8, 7, 1]


def test_random_numbers_are_seeded_inside_and_restored_outside():
    with fit_turn(3, "cpu"):
        first = torch.rand(4)
    before = torch.get_rng_state()
    with fit_turn(3, "cpu"):
        assert torch.equal(torch.rand(4), first)
    assert torch.equal(torch.get_rng_state(), before)


class Blocks(Callback):
    """Wait in the second epoch until it may go on."""

    def __init__(self, reached, may_go_on):
        self.reached = reached
        self.may_go_on = may_go_on
        self.n_threads = []

    def on_epoch_begin(self, net, **kwargs):
        self.n_threads.append(torch.get_num_threads())
        if len(net.history) == 2:
            self.reached.set()
            assert self.may_go_on.wait(PATIENCE)
            self.n_threads.append(torch.get_num_threads())


class BlockedFit:
    """A fit in another thread that stands still inside a callback."""

    def __init__(self, X, y, **params):
        self.callback = Blocks(threading.Event(), threading.Event())
        params = {"max_epochs": 2, **params}
        clf = quick(DefaultClassifier, callbacks=[self.callback], **params)
        self.thread = threading.Thread(target=clf.fit, args=(X, y), daemon=True)

    def __enter__(self):
        self.thread.start()
        assert self.callback.reached.wait(PATIENCE)
        return self

    def __exit__(self, *_):
        self.callback.may_go_on.set()
        self.thread.join(PATIENCE)
        assert not self.thread.is_alive()


@pytest.mark.usefixtures("three_threads")
@pytest.mark.parametrize("method", ["predict", "predict_proba"])
def test_predictions_do_not_wait_for_a_fit_in_another_thread(blobs, method):
    X, y = blobs
    clf = quick(DefaultClassifier).fit(X, y)
    expected = getattr(clf, method)(X)
    results = []
    with BlockedFit(X, y, n_jobs=2) as fit:
        predicting = threading.Thread(
            target=lambda: results.append(getattr(clf, method)(X)), daemon=True
        )
        predicting.start()
        predicting.join(PATIENCE)
        assert len(results) == 1
        # The fit still stands where it was.
        assert fit.thread.is_alive()
        assert not fit.callback.may_go_on.is_set()
    assert np.array_equal(results[0], expected)
    assert set(fit.callback.n_threads) == {1}
    assert torch.get_num_threads() == 3


def test_fits_in_several_threads_wait_for_each_other(blobs):
    X, y = blobs
    finished = threading.Event()

    def second_fit():
        quick(DefaultClassifier, max_epochs=1).fit(X, y)
        finished.set()

    with BlockedFit(X, y):
        waiting = threading.Thread(target=second_fit, daemon=True)
        waiting.start()
        assert not finished.wait(0.5)
    assert finished.wait(PATIENCE)
    waiting.join(PATIENCE)


def test_a_fit_inside_a_fit_does_not_hang(blobs):
    """A callback may train a classifier of its own."""
    X, y = blobs
    scores = []

    class FitsToo(Callback):
        def on_epoch_end(self, net, **kwargs):
            inner = quick(DefaultClassifier, max_epochs=1).fit(X, y)
            scores.append(inner.score(X, y))

    plain = quick(DefaultClassifier, max_epochs=2).fit(X, y)
    clf = quick(DefaultClassifier, max_epochs=2, callbacks=[FitsToo()])
    clf.fit(X, y)
    assert len(scores) == 2
    assert np.array_equal(clf.predict_proba(X), plain.predict_proba(X))
