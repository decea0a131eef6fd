"""NoisyTargetClassifier with PrestoppingClassifier, and both with a Pipeline."""

import warnings

from sklearn.datasets import make_blobs
from sklearn.exceptions import ConvergenceWarning

from skpresto import PrestoppingClassifier
from skpresto.noise import NoisyTargetClassifier, SymmetricNoise

X, y = make_blobs(n_samples=180, centers=3, random_state=0, cluster_std=0.7)


def prestopping():
    return PrestoppingClassifier(max_epochs=6, lr=0.05, random_state=0)


def test_safe_set_has_fewer_wrong_labels_than_the_training_labels():
    noise = SymmetricNoise(0.4, exact=True, random_state=0)
    model = NoisyTargetClassifier(prestopping(), noise)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X, y, X_val=X[:20], y_val=y[:20])
    wrong = model.noise_.flipped_mask_
    assert wrong.mean() == 0.4
    assert wrong[model.safe_mask_].mean() < 0.2
