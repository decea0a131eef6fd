import numpy as np

from skpresto import DefaultClassifier
from skpresto.baselines import ELRClassifier
from tests.discovery import MEMORIZING, quick


def test_without_the_regularizer_training_is_plain(noisy_blobs):
    X, y, _ = noisy_blobs
    elr = quick(ELRClassifier, regularization=0).fit(X, y)
    plain = quick(DefaultClassifier).fit(X, y)
    np.testing.assert_array_equal(elr.predict_proba(X), plain.predict_proba(X))


def test_wrong_labels_are_memorized_less(memorizable, plain):
    X, y, y_true, X_test, y_test = memorizable
    elr = quick(ELRClassifier, **MEMORIZING).fit(X, y, y_true=y_true)
    last = [clf.history_[-1].memorization_precision for clf in (elr, plain)]
    assert last[0] > last[1] + 0.05
    assert elr.score(X_test, y_test) > plain.score(X_test, y_test) + 0.05
