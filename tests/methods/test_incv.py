import numpy as np
import pytest

from skpresto import DefaultClassifier
from skpresto.baselines import INCVClassifier
from skpresto.exceptions import FallbackWarning
from skpresto.noise import SymmetricNoise
from tests.discovery import MEMORIZING, quick


def test_rounds_of_two_halves_then_two_networks(noisy_blobs):
    X, y, _ = noisy_blobs
    clf = quick(INCVClassifier, rounds=2, max_epochs=8, round_epochs=2).fit(X, y)
    stages = list(dict.fromkeys(record.stage for record in clf.history_))
    halves = [f"round {n} half {half}" for n in (1, 2) for half in (1, 2)]
    assert stages == [*halves, "final"]
    assert len(clf.history_) == 4 * 2 + 8
    first = [r.selected_fraction for r in clf.history_[:4]]
    assert first == [0.5] * 4
    assert len(clf.net_.networks) == 2


def test_selected_labels_are_cleaner_and_more_in_later_rounds(memorizable):
    X, _, y_true, X_test, y_test = memorizable
    y = SymmetricNoise(0.4, random_state=0).fit_transform(y_true)
    fits = [quick(INCVClassifier, rounds=n, **MEMORIZING).fit(X, y) for n in (1, 3)]
    plain = quick(DefaultClassifier, **MEMORIZING).fit(X, y)
    is_right = y == y_true
    assert fits[0].safe_mask_.sum() < fits[1].safe_mask_.sum()
    for clf in fits:
        assert is_right[clf.safe_mask_].mean() > 0.85
        assert clf.score(X_test, y_test) > plain.score(X_test, y_test) + 0.05
        assert abs(clf.noise_rate_ - 0.4) < 0.12


def test_the_noise_rate_can_be_given(noisy_blobs):
    X, y, _ = noisy_blobs
    assert quick(INCVClassifier, noise_rate=0.3).fit(X, y).noise_rate_ == 0.3


def test_patterns_differ_in_noise_rate_and_discarded_samples(noisy_blobs):
    X, y, _ = noisy_blobs
    rates = {
        pattern: quick(INCVClassifier, noise_pattern=pattern, rounds=2).fit(X, y)
        for pattern in ("symmetric", "asymmetric")
    }
    assert rates["symmetric"].noise_rate_ < rates["asymmetric"].noise_rate_
    with pytest.raises(ValueError, match="'noise_pattern' parameter of INCVClassifier"):
        quick(INCVClassifier, noise_pattern="pair").fit(X, y)


def test_rounds_end_when_nothing_is_left_to_select(blobs):
    X, y = blobs
    params = {"rounds": 30, "max_epochs": 10, "batch_size": 32, "random_state": 1}
    clf = quick(INCVClassifier, **params).fit(X, y)
    stages = {record.stage for record in clf.history_}
    assert len(stages) < 30
    assert clf.safe_mask_.mean() > 0.9


def test_labels_that_nothing_predicts_are_all_used():
    """Each label occurs once, so the network of the other half has not seen it."""
    X = np.eye(12, dtype=np.float32)
    clf = quick(INCVClassifier, max_epochs=30, round_epochs=0.9, batch_size=4)
    with pytest.warns(FallbackWarning, match="no label is predicted by a network"):
        clf.fit(X, np.arange(12))
    assert clf.safe_mask_.all()


def test_samples_of_weight_zero_are_not_selected_but_assessed(blobs):
    X, y = blobs
    weights = np.ones(400)
    weights[:100] = 0
    y = y.copy()
    y[:50] = (y[:50] + 1) % 4
    clf = quick(INCVClassifier, batch_size=32, round_epochs=0.5).fit(X, y, weights)
    assert clf.safe_mask_[50:100].mean() > 0.8
    assert clf.safe_mask_[:50].mean() < 0.2
