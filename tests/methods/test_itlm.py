import numpy as np
import pytest

from skpresto import DefaultClassifier
from skpresto.baselines import ITLMClassifier
from skpresto.noise import SymmetricNoise
from tests.discovery import MEMORIZING, quick


def test_rounds_are_short_and_the_final_network_is_trained_in_full(noisy_blobs):
    X, y, _ = noisy_blobs
    clf = quick(ITLMClassifier, rounds=2, max_epochs=8, round_epochs=0.25).fit(X, y)
    stages = [record.stage for record in clf.history_]
    assert stages == ["round 0"] * 2 + ["round 1"] * 2 + ["final"] * 8
    learned = {record.stage: record.selected_fraction for record in clf.history_}
    assert learned == {"round 0": 1.0, "round 1": 0.8, "final": 0.8}
    assert clf.safe_mask_.sum() == 320
    assert clf.noise_rate_ == 0.2


@pytest.mark.parametrize(("given", "expected"), [(0.01, 1), (3, 3), (50, 4)])
def test_a_round_has_at_least_one_epoch_and_at_most_all(noisy_blobs, given, expected):
    X, y, _ = noisy_blobs
    clf = quick(ITLMClassifier, round_epochs=given, max_epochs=4).fit(X, y)
    assert [r.stage for r in clf.history_].count("round 0") == expected


def test_nothing_trimmed_is_plain_training_of_a_new_network(noisy_blobs):
    X, y, _ = noisy_blobs
    clf = quick(ITLMClassifier, noise_rate=0.0).fit(X, y)
    assert clf.safe_mask_.all()
    assert {record.selected_fraction for record in clf.history_} == {1.0}


def test_kept_samples_are_those_with_small_losses(noisy_blobs):
    X, y, y_true = noisy_blobs
    is_wrong = y != y_true
    clf = quick(ITLMClassifier, noise_rate=0.3, batch_size=32).fit(X, y)
    assert is_wrong[clf.safe_mask_].mean() < 0.5 * is_wrong.mean()


def test_less_is_memorized_than_by_plain_training(memorizable):
    X, _, y_true, X_test, y_test = memorizable
    y = SymmetricNoise(0.4, random_state=0).fit_transform(y_true)
    clf = quick(ITLMClassifier, noise_rate=0.4, rounds=3, **MEMORIZING).fit(X, y)
    plain = quick(DefaultClassifier, **MEMORIZING).fit(X, y)
    assert clf.score(X_test, y_test) > plain.score(X_test, y_test) + 0.05
    assert (y == y_true)[clf.safe_mask_].mean() > 0.8


def test_unknown_noise_rate_is_estimated(noisy_blobs):
    X, y, y_true = noisy_blobs
    clf = quick(ITLMClassifier, noise_rate=None, batch_size=32, max_epochs=20)
    clf.fit(X, y)
    assert abs(clf.noise_rate_ - np.mean(y != y_true)) < 0.1
    assert clf.history_[0].stage == "noise rate phase 1"


def test_samples_of_weight_zero_are_not_kept_but_assessed(blobs):
    X, y = blobs
    weights = np.ones(400)
    weights[:100] = 0
    y = y.copy()
    y[:50] = (y[:50] + 1) % 4
    clf = quick(ITLMClassifier, noise_rate=0.1, batch_size=32).fit(X, y, weights)
    assert clf.safe_mask_[100:].sum() == 270
    assert clf.safe_mask_[50:100].mean() > 0.8
    assert clf.safe_mask_[:50].mean() < 0.2
