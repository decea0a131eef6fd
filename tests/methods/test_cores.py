import numpy as np

from skpresto import DefaultClassifier
from skpresto.baselines import CORESClassifier
from tests.discovery import MEMORIZING, quick


def test_without_regularizer_and_sieve_training_is_plain(noisy_blobs):
    X, y, _ = noisy_blobs
    cores = quick(CORESClassifier, regularization=0, sieve_from=12).fit(X, y)
    plain = quick(DefaultClassifier).fit(X, y)
    np.testing.assert_allclose(
        cores.predict_proba(X), plain.predict_proba(X), rtol=1e-4, atol=1e-5
    )


def test_wrong_labels_are_sieved(memorizable, plain):
    X, y, y_true, X_test, y_test = memorizable
    clf = quick(CORESClassifier, **MEMORIZING).fit(X, y)
    is_wrong = y != y_true
    assert (~clf.safe_mask_)[is_wrong].mean() > 0.85
    assert clf.safe_mask_[~is_wrong].mean() > 0.9
    assert clf.score(X_test, y_test) > plain.score(X_test, y_test) + 0.1
    selected = [record.selected_fraction for record in clf.history_]
    assert selected[:6] == [1] * 6
    assert max(selected[6:]) < 0.9
