"""What every Display promises."""

import builtins
import copy
import io

import matplotlib.pyplot as plt
import numpy as np
import pytest

import skpresto.plots
from skpresto.plots._axes import line_style
from tests.plots.samples import DISPLAYS


@pytest.fixture(params=sorted(DISPLAYS))
def display(request):
    return DISPLAYS[request.param]()


def data_of(display):
    drawn = ("ax_", "figure_")
    return {name: value for name, value in vars(display).items() if name not in drawn}


def test_every_display_keeps_the_contract():
    assert sorted(DISPLAYS) == sorted(skpresto.plots.__all__)


def test_plotting_changes_no_data_and_no_frame(display):
    before, frame = copy.deepcopy(data_of(display)), display.frame()
    assert display.plot().plot() is display
    np.testing.assert_equal(data_of(display), before)
    assert display.frame().equals(frame)


def test_plotting_goes_on_the_axes_given(display):
    figure, ax = plt.subplots()
    assert display.plot(ax=ax) is display
    assert display.ax_ is ax
    assert display.figure_ is figure


def test_without_axes_each_plot_is_a_new_figure(display):
    first = display.plot().figure_
    assert display.plot().figure_ is not first


def test_axes_are_labelled_and_the_figure_can_be_drawn(display):
    display.plot()
    assert display.ax_.get_xlabel()
    assert display.ax_.get_ylabel()
    display.figure_.savefig(io.BytesIO(), format="png")


def test_a_display_does_not_share_the_lists_it_was_given():
    results = [{"method": "A", "rate": 0.1, "error": 0.2}]
    display = skpresto.plots.NoiseRateCurveDisplay(results)
    results[0]["error"] = 0.9
    assert display.results[0]["error"] == 0.2


@pytest.mark.parametrize(
    ("missing", "call"), [("matplotlib.pyplot", "plot"), ("pandas", "frame")]
)
def test_what_is_missing_is_named(display, monkeypatch, missing, call):
    plain_import = builtins.__import__

    def without(name, *args, **kwargs):
        if name == missing:
            raise ImportError(name)
        return plain_import(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ImportError, match="pip install"):
        getattr(display, call)()


def test_as_many_lines_as_there_are_methods_look_different():
    styles = {tuple(line_style(number).values()) for number in range(12)}
    assert len(styles) == 12


def test_shares_are_written_as_per_cent():
    display = DISPLAYS["StopPointDisplay"]().plot()
    display.figure_.draw_without_rendering()
    texts = [text.get_text() for text in display.ax_.get_yticklabels()]
    assert "40%" in texts
