import builtins
import copy

import matplotlib as mpl
import matplotlib.pyplot as plt
import pytest

from skpresto import DefaultClassifier, PrestoppingClassifier
from skpresto.plots import StopPointDisplay
from skpresto.stopping import NoiseRateStop
from tests.discovery import quick

mpl.use("Agg")


@pytest.fixture
def fitted(noisy_blobs):
    X, y, y_true = noisy_blobs
    clf = quick(PrestoppingClassifier, stop=NoiseRateStop(0.5))
    return clf.fit(X, y, y_true=y_true)


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def test_stop_point_shows_curves_and_the_stop(fitted):
    display = StopPointDisplay.from_estimator(fitted)
    labels = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert f"NoiseRateStop: epoch {fitted.stop_epoch_}" in labels
    assert {"training error", "memorization precision"} <= set(labels)
    assert "held-out error" not in labels
    assert display.ax_.get_xlabel() == "epoch"


def test_plotting_changes_no_data(fitted):
    display = StopPointDisplay.from_estimator(fitted)
    before = copy.deepcopy(display.records)
    display.plot()
    assert display.records == before


def test_plotting_on_given_axes(fitted):
    _, ax = plt.subplots()
    assert StopPointDisplay.from_estimator(fitted, ax=ax).ax_ is ax


def test_frame_holds_the_numbers_behind_the_plot(fitted):
    frame = StopPointDisplay.from_estimator(fitted).frame()
    assert len(frame) == len(fitted.history_)
    assert frame["train_error"].tolist() == [r.train_error for r in fitted.history_]


def test_a_classifier_without_a_stop_point_is_refused(noisy_blobs):
    X, y, _ = noisy_blobs
    with pytest.raises(ValueError, match="not fitted yet"):
        StopPointDisplay.from_estimator(quick(DefaultClassifier).fit(X, y))


@pytest.mark.parametrize(
    ("missing", "call"), [("matplotlib.pyplot", "plot"), ("pandas", "frame")]
)
def test_what_is_missing_is_named(fitted, monkeypatch, missing, call):
    display = StopPointDisplay(fitted.history_, fitted.stop_epoch_)
    plain_import = builtins.__import__

    def without(name, *args, **kwargs):
        if name == missing:
            raise ImportError(name)
        return plain_import(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ImportError, match="pip install"):
        getattr(display, call)()
