"""Data and settings shared by the tests."""

import numpy as np
import pytest
import torch
from hypothesis import settings
from sklearn.datasets import make_blobs

settings.register_profile("default", deadline=None, max_examples=60, derandomize=True)
settings.register_profile("thorough", deadline=None, max_examples=2000)
settings.load_profile("default")

torch.set_num_threads(1)


@pytest.fixture
def blobs():
    """Four classes that a small network separates in a few epochs."""
    X, y = make_blobs(n_samples=400, centers=4, cluster_std=0.9, random_state=0)
    return X.astype(np.float32), y


@pytest.fixture
def noisy_blobs(blobs):
    """The same with 30 % of the labels moved to the next class: X, y_noisy, y."""
    X, y = blobs
    is_wrong = np.random.RandomState(0).uniform(size=len(y)) < 0.3
    return X, np.where(is_wrong, (y + 1) % 4, y), y
