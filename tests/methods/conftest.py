import numpy as np
import pytest
from sklearn.datasets import make_blobs

from skpresto import DefaultClassifier
from tests.discovery import MEMORIZING, quick


@pytest.fixture(scope="session")
def memorizable():
    """Rows with enough columns that wrong labels can be memorized.

    Returns X, noisy labels, true labels, and test rows with true labels. 35 % of the
    labels are moved to the next class.
    """
    X, y = make_blobs(
        n_samples=2000, centers=4, n_features=20, cluster_std=5.0, random_state=0
    )
    X = (X / 5).astype(np.float32)
    is_wrong = np.random.RandomState(0).uniform(size=2000) < 0.35
    noisy = np.where(is_wrong, (y + 1) % 4, y)
    return X[:1000], noisy[:1000], y[:1000], X[1000:], y[1000:]


@pytest.fixture(scope="session")
def plain(memorizable):
    """Plain training, by which wrong labels are memorized."""
    X, y, y_true, *_ = memorizable
    return quick(DefaultClassifier, **MEMORIZING).fit(X, y, y_true=y_true)
