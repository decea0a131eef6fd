"""A fitted classifier to plot, and the closing of all figures after each test."""

import matplotlib as mpl
import matplotlib.pyplot as plt
import pytest

from skpresto import PrestoppingClassifier
from skpresto.stopping import NoiseRateStop
from tests.discovery import quick

mpl.use("Agg")


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


@pytest.fixture
def fitted(noisy_blobs):
    X, y, y_true = noisy_blobs
    clf = quick(PrestoppingClassifier, stop=NoiseRateStop(0.5))
    return clf.fit(X, y, y_true=y_true)


@pytest.fixture
def legend_of():
    """Return a function that lists the legend entries of a display."""

    def texts(display):
        return [text.get_text() for text in display.ax_.get_legend().get_texts()]

    return texts
