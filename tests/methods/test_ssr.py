import numpy as np
import pytest
from sklearn.base import clone

from skpresto.baselines import DivideMixClassifier, SSRClassifier
from tests.discovery import MEMORIZING, quick

BOTH = pytest.mark.parametrize("Classifier", [SSRClassifier, DivideMixClassifier])


@BOTH
def test_wrong_labels_are_found_and_not_memorized(Classifier, memorizable, plain):
    X, y, y_true, X_test, y_test = memorizable
    clf = quick(Classifier, **MEMORIZING).fit(X, y)
    assert clf.score(X_test, y_test) > plain.score(X_test, y_test) + 0.15
    assert (y == y_true)[clf.safe_mask_].mean() > 0.95
    assert clf.safe_mask_[y == y_true].mean() > 0.9


def test_labels_are_corrected(memorizable):
    X, y, y_true, *_ = memorizable
    clf = quick(SSRClassifier, **MEMORIZING).fit(X, y)
    is_corrected = clf.corrected_labels_ != y
    assert (clf.corrected_labels_ == y_true)[is_corrected].mean() > 0.95
    assert is_corrected[y != y_true].mean() > 0.3
    assert not (clf.safe_mask_ & is_corrected).any()
    assert clf.history_[-1].corrected_fraction > 0.1


@BOTH
def test_rows_of_weight_zero_do_not_matter(Classifier, noisy_blobs):
    X, y, _ = noisy_blobs
    weights = np.ones(len(y))
    weights[::4] = 0
    clf = quick(Classifier, max_epochs=6).fit(X, y, weights)
    kept = quick(Classifier, max_epochs=6).fit(X[weights > 0], y[weights > 0])
    np.testing.assert_array_equal(clf.predict_proba(X), kept.predict_proba(X))
    assert clf.safe_mask_[::4].any()


@BOTH
def test_views_of_images(Classifier):
    rng = np.random.RandomState(0)
    y = rng.randint(2, size=60)
    X = rng.normal(size=(60, 1, 8, 8)).astype(np.float32) + y[:, None, None, None]
    n_calls = []

    def shifted(X):
        n_calls.append(len(X))
        return X + 0.1

    clf = Classifier(max_epochs=2, batch_size=30, random_state=0)
    clf.set_params(augment=shifted).fit(X, y)
    assert n_calls == [30] * 8  # four batches, two views
    other = clone(clf).set_params(augment=None).fit(X, y)
    assert (clf.predict_proba(X) != other.predict_proba(X)).any()
