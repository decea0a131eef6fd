"""Data of the tests of resumable fits."""

import pytest


@pytest.fixture
def small(noisy_blobs):
    X, y, _ = noisy_blobs
    return X[:120], y[:120]
