import numpy as np
import pytest

from skpresto.baselines import MentorNetClassifier
from tests.discovery import MEMORIZING, quick


def test_wrong_labels_are_memorized_less(memorizable, plain):
    X, y, y_true, X_test, y_test = memorizable
    params = {**MEMORIZING, "percentile": 65, "random_state": 1}
    clf = quick(MentorNetClassifier, **params).fit(X, y)
    assert clf.score(X_test, y_test) > plain.score(X_test, y_test) + 0.05
    assert (y == y_true)[clf.safe_mask_].mean() > 0.85
    assert clf.safe_mask_.mean() == pytest.approx(0.65, abs=0.1)


def test_phases_show_in_the_records(memorizable):
    X, y, *_ = memorizable
    clf = quick(MentorNetClassifier, **MEMORIZING, percentile=70, dropout=0).fit(X, y)
    selected = np.array([record.selected_fraction for record in clf.history_])
    assert np.allclose(selected[:4], 0.5)  # round(0.18 * 20) epochs of warm-up
    assert (abs(selected[4:18] - 0.7) < 0.1).all()
    # Weights are not 0 for losses that are larger than the threshold by less than 1.
    assert (selected[18:] > selected[17]).all()


def test_without_a_curriculum_training_is_plain(noisy_blobs):
    """But for the random numbers that choose what to drop."""
    X, y, _ = noisy_blobs
    params = {"percentile": 100, "decay": 0.0, "dropout": 0, "warm_up": 0}
    clf = quick(MentorNetClassifier, **params, module__dropout=0.0).fit(X, y)
    assert {record.selected_fraction for record in clf.history_} == {1.0}
    assert clf.safe_mask_.all()
    assert clf.noise_rate_ == 0
