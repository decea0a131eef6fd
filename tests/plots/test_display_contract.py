"""The interface that all displays have in common."""

import builtins
import copy
import io

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

import skpresto.plots
from skpresto import DefaultClassifier
from skpresto.plots import HistoryLengthDisplay, TransitionMatrixDisplay
from skpresto.plots._axes import line_style
from tests.plots.samples import DISPLAYS


@pytest.fixture(params=sorted(DISPLAYS))
def display(request):
    return DISPLAYS[request.param]()


def data_of(display):
    plotted = ("ax_", "figure_")
    return {name: value for name, value in vars(display).items() if name not in plotted}


def test_every_public_display_is_tested_here():
    assert sorted(DISPLAYS) == sorted(skpresto.plots.__all__)


def test_plotting_does_not_change_the_data_or_the_frame(display):
    before, frame = copy.deepcopy(data_of(display)), display.frame()
    assert display.plot().plot() is display
    np.testing.assert_equal(data_of(display), before)
    assert display.frame().equals(frame)


def test_plot_uses_the_given_axes(display):
    figure, ax = plt.subplots()
    assert display.plot(ax=ax) is display
    assert display.ax_ is ax
    assert display.figure_ is figure


def test_without_axes_each_plot_creates_a_new_figure(display):
    first = display.plot().figure_
    assert display.plot().figure_ is not first


def test_axes_are_labeled_and_the_figure_can_be_saved(display):
    display.plot()
    assert display.ax_.get_xlabel()
    assert display.ax_.get_ylabel()
    display.figure_.savefig(io.BytesIO(), format="png")


def test_a_display_copies_the_results_passed_to_it():
    results = [{"method": "A", "rate": 0.1, "error": 0.2}]
    display = skpresto.plots.NoiseRateCurveDisplay(results)
    results[0]["error"] = 0.9
    assert display.results[0]["error"] == 0.2


@pytest.mark.parametrize(
    ("missing", "call"), [("matplotlib.pyplot", "plot"), ("pandas", "frame")]
)
def test_a_missing_package_is_named_with_the_install_command(
    display, monkeypatch, missing, call
):
    original_import = builtins.__import__

    def without(name, *args, **kwargs):
        if name == missing:
            raise ModuleNotFoundError(name, name=name)
        return original_import(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ImportError, match=r"needs \w+\. .*skpresto\[plot\]"):
        getattr(display, call)()


def test_twelve_lines_have_different_styles():
    styles = {tuple(line_style(number).values()) for number in range(12)}
    assert len(styles) == 12


def test_fractions_are_shown_as_percentages():
    display = DISPLAYS["StopPointDisplay"]().plot()
    display.figure_.draw_without_rendering()
    texts = [text.get_text() for text in display.ax_.get_yticklabels()]
    assert "40%" in texts


@pytest.mark.parametrize(
    "show", [HistoryLengthDisplay.from_search, TransitionMatrixDisplay.from_injector]
)
def test_a_fitted_classifier_is_not_called_unfitted(show):
    X, y = np.random.RandomState(0).standard_normal((40, 2)), np.arange(40) % 2
    fitted = DefaultClassifier(max_epochs=1).fit(X, y)
    with pytest.raises(ValueError, match="needs a .*DefaultClassifier") as caught:
        show(fitted)
    assert not isinstance(caught.value, NotFittedError)
    with pytest.raises(NotFittedError):
        show(DefaultClassifier())
