import numpy as np
import pytest

from skpresto import SelfieClassifier
from tests.discovery import quick


@pytest.fixture
def fitted(noisy_blobs):
    """Return a function that fits SELFIE on noisy blobs."""
    X, y, _ = noisy_blobs

    def fit(**params):
        settings = {"max_epochs": 25, "batch_size": 32, "module__hidden": (32,), "q": 4}
        return SelfieClassifier(
            **{**settings, "noise_rate": 0.3, "random_state": 0, **params}
        ).fit(X, y)

    return fit


@pytest.mark.parametrize("restarts", [0, 1])
def test_corrected_labels_are_mostly_right(fitted, noisy_blobs, restarts):
    _, y, y_true = noisy_blobs
    clf = fitted(restarts=restarts)
    assert np.array_equal(clf.corrected_mask_, clf.corrected_labels_ != y)
    assert clf.corrected_mask_.mean() > 0.1
    assert (clf.corrected_labels_ == y_true)[clf.corrected_mask_].mean() > 0.8
    assert (clf.corrected_labels_ == y_true).mean() > (y == y_true).mean() + 0.1
    assert clf.history_[-1].corrected_fraction > 0
    assert clf.history_[0].corrected_fraction == 0


def test_restarts_are_stages_of_their_own(fitted):
    clf = fitted(restarts=2, max_epochs=8)
    stages = ["train"] * 8 + ["restart 1"] * 8 + ["restart 2"] * 8
    assert [r.stage for r in clf.history_] == stages
    assert [r.epoch for r in clf.history_] == list(range(1, 9)) * 3
    assert clf.n_epochs_ == 8


def test_an_estimated_noise_rate_has_stages_of_its_own(fitted):
    clf = fitted(noise_rate=None, restarts=0)
    stages = [r.stage for r in clf.history_]
    assert list(dict.fromkeys(stages)) == [
        "noise rate phase 1",
        "noise rate phase 2",
        "train",
    ]
    assert stages.count("train") == 25


def test_corrected_labels_survive_a_restart(fitted):
    once, twice = fitted(restarts=0), fitted(restarts=1)
    first_corrected = twice.history_[25 + 7].corrected_fraction
    assert first_corrected > 0  # before any history of the second run is full
    assert once.corrected_mask_.sum() > 0


def test_history_too_long_to_fill_corrects_nothing_and_warns(noisy_blobs):
    X, y, _ = noisy_blobs
    clf = quick(SelfieClassifier, q=50)
    with pytest.warns(UserWarning, match="q=50 predictions.*max_epochs=12.*no label"):
        clf.fit(X, y)
    assert not clf.corrected_mask_.any()
