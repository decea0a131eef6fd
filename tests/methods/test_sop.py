import numpy as np

from skpresto import DefaultClassifier
from skpresto.baselines import SOPClassifier
from tests.discovery import MEMORIZING, quick


def test_without_learning_rates_training_is_plain(noisy_blobs):
    X, y, _ = noisy_blobs
    sop = quick(SOPClassifier, lr_u=0, lr_v=0, max_epochs=3).fit(X, y)
    plain = quick(DefaultClassifier, max_epochs=3).fit(X, y)
    np.testing.assert_allclose(sop.predict_proba(X), plain.predict_proba(X), atol=1e-4)


def test_wrong_labels_are_memorized_less(memorizable, plain):
    X, y, y_true, X_test, y_test = memorizable
    sop = quick(SOPClassifier, **MEMORIZING).fit(X, y, y_true=y_true)
    last = [clf.history_[-1].memorization_precision for clf in (sop, plain)]
    assert last[0] > last[1] + 0.03
    assert sop.score(X_test, y_test) > plain.score(X_test, y_test) + 0.05
