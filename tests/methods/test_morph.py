import numpy as np
import pytest

from skpresto import CrossPrestoppingClassifier, PrestoppingClassifier
from skpresto.baselines import MorphClassifier
from skpresto.stopping import LossMixtureStop, MemorizedFractionStop
from tests.discovery import MEMORIZING, quick, short_fits_warn


@pytest.fixture(scope="module")
def morph(memorizable):
    X, y, y_true, *_ = memorizable
    return quick(MorphClassifier, **MEMORIZING).fit(X, y, y_true=y_true)


def test_wrong_labels_are_memorized_less(memorizable, morph, plain):
    *_, X_test, y_test = memorizable
    last = [clf.history_[-1].memorization_precision for clf in (morph, plain)]
    assert last[0] > last[1] + 0.1
    assert morph.score(X_test, y_test) > plain.score(X_test, y_test) + 0.1


def test_the_estimate_is_recorded_and_ends_phase_one(morph):
    phase_1 = [record for record in morph.history_ if record.phase == 1]
    rates = [record.estimated_noise_rate for record in phase_1]
    assert morph.stop_epoch_ == len(phase_1) >= 3
    assert morph.noise_rate_ == rates[-1]
    assert abs(rates[-1] - 0.35) < 0.1
    assert phase_1[-1].memorized_fraction >= 1 - rates[-1]
    assert all(r.estimated_noise_rate is None for r in morph.history_[len(rates) :])


def test_without_views_it_is_prestopping_with_its_rule(memorizable, morph):
    X, y, *_ = memorizable
    clf = quick(PrestoppingClassifier, stop=LossMixtureStop(), **MEMORIZING).fit(X, y)
    np.testing.assert_array_equal(clf.predict_proba(X), morph.predict_proba(X))


@short_fits_warn
def test_the_estimate_is_made_for_its_rule_only(noisy_blobs):
    X, y, _ = noisy_blobs
    clf = quick(CrossPrestoppingClassifier, stop=LossMixtureStop()).fit(X, y)
    searched = [r for r in clf.history_ if r.stage == "search"]
    assert all(0 <= r.estimated_noise_rate <= 1 for r in searched)
    clf = quick(PrestoppingClassifier, stop=MemorizedFractionStop(0.3)).fit(X, y)
    assert all(r.estimated_noise_rate is None for r in clf.history_)


def jittered(X):
    return X + 0.05 * (X > 0)


def test_views_of_the_user_are_compared_in_phase_two(memorizable, morph):
    X, y, *_ = memorizable
    X_test, y_test = memorizable[3:]
    clf = quick(MorphClassifier, augment=jittered, **MEMORIZING).fit(X, y)
    losses = [[r.train_loss for r in c.history_] for c in (clf, morph)]
    n = morph.stop_epoch_
    assert losses[0][:n] == losses[1][:n]
    assert losses[0][n] != losses[1][n]
    assert clf.history_[-1].selected_fraction == 1
    assert clf.score(X_test, y_test) > 0.9


def test_a_view_of_another_shape_is_refused(noisy_blobs):
    X, y, _ = noisy_blobs
    clf = quick(MorphClassifier, augment=lambda X: X[:, :1], max_epochs=20)
    with pytest.raises(ValueError, match=r"augment must return features of the same"):
        clf.fit(X, y)


def test_rows_of_weight_zero_have_no_part_in_the_estimate(noisy_blobs):
    X, y, _ = noisy_blobs
    weights = np.ones(len(y))
    weights[300:] = 0
    weighted = quick(MorphClassifier, max_epochs=20).fit(X, y, weights)
    fewer = quick(MorphClassifier, max_epochs=20).fit(X[:300], y[:300])
    assert weighted.noise_rate_ == fewer.noise_rate_
