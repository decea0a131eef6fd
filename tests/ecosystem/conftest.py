"""Data of the tests with other packages."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from skpresto import PrestoppingClassifier
from tests.discovery import StopAfter, quick


@pytest.fixture(scope="session")
def data():
    """Three classes, of which a tenth of the labels is wrong."""
    X, y = make_blobs(n_samples=240, centers=3, cluster_std=0.7, random_state=0)
    y[::10] = (y[::10] + 1) % 3
    return X.astype(np.float32), np.array(["a", "b", "c"])[y]


@pytest.fixture
def clf():
    """A classifier that trains in a moment."""
    return quick(PrestoppingClassifier, max_epochs=8, batch_size=32, stop=StopAfter(5))
