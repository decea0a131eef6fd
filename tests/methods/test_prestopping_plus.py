import inspect

import numpy as np
import pytest
import torch

from skpresto import PrestoppingClassifier, PrestoppingPlusClassifier
from skpresto.stopping import AgreementStop, NoiseRateStop, ValidationStop
from tests.discovery import StopAfter, quick

RULE = NoiseRateStop(0.35)


@pytest.fixture
def fitted(noisy_blobs):
    """Return a function that fits a classifier on noisy blobs."""
    X, y, _ = noisy_blobs

    def fit(Classifier=PrestoppingPlusClassifier, weights=None, **params):
        settings = {"max_epochs": 25, "batch_size": 32, "module__hidden": (32,), "q": 4}
        clf = Classifier(**{**settings, "random_state": 0, "stop": RULE, **params})
        return clf.fit(X, y, weights)

    return fit


def test_corrected_labels_are_mostly_right(fitted, noisy_blobs):
    _, y, y_true = noisy_blobs
    clf = fitted()
    assert np.array_equal(clf.corrected_mask_, clf.corrected_labels_ != y)
    assert clf.corrected_mask_.mean() > 0.1
    assert (clf.corrected_labels_ == y_true)[clf.corrected_mask_].mean() > 0.8
    assert (clf.corrected_labels_ == y_true).mean() > (y == y_true).mean() + 0.1
    assert clf.history_[-1].corrected_fraction > 0
    assert clf.history_[0].corrected_fraction is None


def test_safe_labels_are_never_corrected(fitted):
    clf = fitted()
    assert not clf.corrected_mask_[clf.safe_mask_].any()


def test_a_new_network_is_trained_after_the_two_phases(fitted):
    clf = fitted(stop=StopAfter(4), max_epochs=10)
    assert [(record.stage, record.epoch) for record in clf.history_] == [
        *(("phase 1", epoch) for epoch in range(1, 5)),
        *(("phase 2", epoch) for epoch in range(5, 11)),
        *(("final", epoch) for epoch in range(1, 11)),
    ]


def test_rows_without_weight_are_safe_where_prestopping_predicts_their_label(
    fitted, noisy_blobs
):
    weights = np.arange(len(noisy_blobs[1])) % 5 > 0
    first, plus = fitted(PrestoppingClassifier, weights), fitted(weights=weights)
    assert np.array_equal(plus.safe_mask_, first.safe_mask_)


def test_the_safe_set_and_its_quality_are_those_of_prestopping(fitted):
    first, plus = fitted(PrestoppingClassifier), fitted()
    assert np.array_equal(plus.safe_mask_, first.safe_mask_)
    assert np.array_equal(plus.label_quality_, first.label_quality_)
    assert plus.noise_rate_ == first.noise_rate_


def test_a_single_network_predicts(fitted):
    module = fitted().net_.module_
    assert isinstance(module, torch.nn.Sequential)
    assert "folds" not in inspect.signature(PrestoppingPlusClassifier).parameters


def test_default_rule_depends_on_what_fit_is_given(noisy_blobs):
    X, y, y_true = noisy_blobs
    clf = quick(PrestoppingPlusClassifier, max_epochs=40, q=4)
    expected = AgreementStop(margin=0, window=3).get_params()
    assert clf.fit(X, y).stop_rule_.get_params() == expected
    clf.fit(X[50:], y[50:], X_val=X[:50], y_val=y_true[:50])
    assert isinstance(clf.stop_rule_, ValidationStop)


def test_the_folds_of_earlier_versions_are_refused(noisy_blobs):
    X, y, _ = noisy_blobs
    with pytest.raises(TypeError, match="unexpected argument 'folds'"):
        quick(PrestoppingPlusClassifier, folds=3).fit(X, y)


def test_history_too_long_to_fill_corrects_nothing_and_warns(noisy_blobs):
    X, y, _ = noisy_blobs
    clf = quick(PrestoppingPlusClassifier, q=50, stop=StopAfter(3))
    with pytest.warns(UserWarning, match="q=50 predictions.*max_epochs=12.*no label"):
        clf.fit(X, y)
    assert not clf.corrected_mask_.any()
