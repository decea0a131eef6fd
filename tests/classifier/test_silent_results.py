"""What would otherwise go wrong without a word."""

import time

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from skpresto import (
    CoTeachingPlusClassifier,
    CrossPrestoppingClassifier,
    DefaultClassifier,
    PrestoppingClassifier,
    SelfieClassifier,
)
from skpresto._classifier.warnings import warn_of_small_safe_set
from skpresto.exceptions import SafeSetWarning
from tests.discovery import every, quick

pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore::skpresto.exceptions.FallbackWarning"),
]

X40 = np.random.RandomState(0).standard_normal((40, 3)).astype(np.float32)


def test_iterators_can_still_be_told_not_to():
    clf = DefaultClassifier(max_epochs=1, iterator_valid__drop_last=False)
    assert len(clf.fit(X40, np.arange(40) % 2).predict(X40)) == 40


@pytest.mark.parametrize(
    ("n_safe", "n_samples", "n_classes", "is_small"),
    [
        (1, 300, 2, True),
        (2, 100, 3, True),
        (3, 100, 3, False),
        (99, 10_000, 3, True),
        (100, 10_000, 3, False),
        (0, 2, 2, True),
    ],
)
def test_a_safe_set_of_almost_no_labels_is_reported(
    n_safe, n_samples, n_classes, is_small, recwarn
):
    clf = DefaultClassifier()
    clf.classes_ = np.arange(n_classes)
    warn_of_small_safe_set(clf, np.arange(n_samples) < n_safe)
    assert len(recwarn) == is_small
    if is_small:
        assert recwarn[0].category is SafeSetWarning
        assert f"only {n_safe} of {n_samples} labels" in str(recwarn[0].message)


def test_co_teaching_plus_warns_if_the_networks_agree_on_almost_all_samples():
    X, y = make_blobs(300, centers=2, cluster_std=0.3, random_state=0)
    clf = CoTeachingPlusClassifier(noise_rate=0.0, max_epochs=12, random_state=0)
    with pytest.warns(
        SafeSetWarning, match=r"CoTeachingPlusClassifier: only \d of 300 .*label_qual"
    ):
        clf.fit(X, y)


@every
def test_a_usual_fit_has_no_small_safe_set(Classifier, noisy_blobs, recwarn):
    X, y, _ = noisy_blobs
    quick(Classifier).fit(X, y)
    assert not [w for w in recwarn if "labels are in the safe set" in str(w.message)]


@pytest.mark.filterwarnings("ignore::skpresto.exceptions.SafeSetWarning")
@pytest.mark.parametrize(
    "classifier", [PrestoppingClassifier, CrossPrestoppingClassifier, SelfieClassifier]
)
def test_a_history_longer_than_the_training_changes_nothing(classifier, noisy_blobs):
    """The number of visits is the number of epochs; q beyond it costs nothing."""
    X, y, _ = noisy_blobs
    short, long = (quick(classifier, max_epochs=4, q=q) for q in (5, 3000))
    started = time.perf_counter()
    short.fit(X, y)
    between = time.perf_counter()
    long.fit(X, y)
    assert time.perf_counter() - between < 10 * (between - started) + 1
    if classifier is CrossPrestoppingClassifier:  # 1/q is a weight there
        return
    np.testing.assert_array_equal(long.safe_mask_, short.safe_mask_)
    np.testing.assert_array_equal(long.label_agreement_, short.label_agreement_)
    np.testing.assert_array_equal(long.predict_proba(X), short.predict_proba(X))


def test_q_of_cross_prestopping_is_not_shortened(noisy_blobs, monkeypatch):
    """It is the weight 1/q of a visit, whatever the number of visits."""
    X, y, _ = noisy_blobs
    seen = []
    from skpresto._methods import _fold_networks

    original = _fold_networks.OutOfFoldProbabilities
    monkeypatch.setattr(
        _fold_networks,
        "OutOfFoldProbabilities",
        lambda *args: seen.append(args[2]) or original(*args),
    )
    quick(CrossPrestoppingClassifier, max_epochs=4, q=3000).fit(X, y)
    assert set(seen) == {3000}
