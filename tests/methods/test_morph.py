import numpy as np
import pytest
import torch
from sklearn.base import clone
from torch import nn

from skpresto import CrossPrestoppingClassifier, PrestoppingClassifier
from skpresto.baselines import MorphClassifier
from skpresto.stopping import LossMixtureStop, MemorizedFractionStop
from tests.discovery import MEMORIZING, quick, short_fits_warn
from tests.resume.kills import everything, fit_with_kills


class TwoInputs(nn.Sequential):
    """A network whose features come in two parts."""

    def __init__(self, n_classes):
        super().__init__(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, n_classes))

    def forward(self, left, right):
        return super().forward(torch.cat([left, right], dim=1))


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
    assert abs(rates[-1] - 0.35) < 0.2
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


@short_fits_warn
def test_a_killed_fit_draws_the_same_views(tmp_path, monkeypatch):
    rng = np.random.RandomState(0)
    y = np.arange(96) % 3
    X = (rng.uniform(size=(96, 1, 8, 8)) + y[:, None, None, None]).astype(np.float32)
    clf = MorphClassifier(
        batch_size=32, lr=0.02, module__widths=(4, 4), max_epochs=8, random_state=0
    )
    expected = everything(clone(clf).fit(X, y), X)
    assert fit_with_kills(monkeypatch, clf, X, y, tmp_path / "fit", 3) >= 2
    assert clf.history_[-1].phase == 2
    assert everything(clf, X) == expected


def test_views_of_several_inputs(noisy_blobs):
    X, y, _ = noisy_blobs
    parts = {"left": X[:, :1], "right": X[:, 1:]}
    clf = quick(MorphClassifier, module=TwoInputs, max_epochs=20, augment=dict)
    del clf.module__hidden
    with_views = clf.fit(parts, y).history_[-1]
    assert with_views.phase == 2
    assert with_views.selected_fraction == 1
