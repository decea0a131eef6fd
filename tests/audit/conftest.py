"""Reports to look at, and the closing of all figures after each test."""

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from skpresto import PrestoppingClassifier
from skpresto.audit import LabelReport
from tests.discovery import quick

mpl.use("Agg")


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


@pytest.fixture
def animals(noisy_blobs):
    """Samples with an index, labels by name, and the true labels."""
    X, y, y_true = noisy_blobs
    names = np.array(["ant", "bee", "=cat", "<b>dog"])
    index = pd.Index(np.arange(len(y)) + 1000, name="animal")
    frame = pd.DataFrame(X, columns=["width", "height"], index=index)
    return frame, pd.Series(names[y], index=index), names[y_true]


@pytest.fixture
def fitted(animals):
    X, y, _ = animals
    return quick(PrestoppingClassifier).fit(X, y)


@pytest.fixture
def report(fitted, animals):
    X, y, _ = animals
    return LabelReport.from_estimator(fitted, X, y)


@pytest.fixture
def probabilities():
    """Out-of-fold probabilities of three classes, and labels of which some are odd."""
    rng = np.random.RandomState(0)
    y = rng.randint(3, size=120)
    scores = rng.normal(size=(120, 3)) + 3 * np.eye(3)[y]
    probability = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    y[:12] = (y[:12] + 1) % 3
    return probability, y
