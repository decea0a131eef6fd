"""Plots of the test error against the noise rate and the history length."""

import numpy as np
import pandas as pd
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skpresto import PrestoppingClassifier
from skpresto.plots import HistoryLengthDisplay, NoiseRateCurveDisplay
from skpresto.stopping import NoiseRateStop
from tests.discovery import quick
from tests.plots.samples import RESULTS


@pytest.mark.parametrize("kind", [list, pd.DataFrame, iter])
def test_frame_contains_means_and_standard_errors(kind):
    frame = NoiseRateCurveDisplay.from_results(kind(RESULTS)).frame()
    assert frame["method"].tolist() == ["A", "A", "B"]
    assert frame["rate"].tolist() == [0.4, 0.0, 0.4]
    np.testing.assert_allclose(frame["error"], [0.4, 0.1, 0.2])
    np.testing.assert_allclose(frame["std_error"], [0.1, np.nan, np.nan])
    assert frame["n_trainings"].tolist() == [2, 1, 1]


def test_lines_are_sorted_by_noise_rate(legend_of):
    display = NoiseRateCurveDisplay.from_results(RESULTS)
    line = display.ax_.get_lines()[0]
    assert line.get_xdata().tolist() == [0.0, 0.4]
    np.testing.assert_allclose(list(line.get_ydata()), [0.1, 0.4])
    assert legend_of(display) == ["A", "B"]
    assert display.ax_.get_xticks().tolist() == [0.0, 0.4]


@pytest.mark.parametrize(("n_methods", "is_beside"), [(4, False), (8, True)])
def test_a_long_legend_is_placed_beside_the_axes(n_methods, is_beside):
    rows = [
        {"method": str(i), "rate": rate, "error": 0.1 + rate / (i + 1)}
        for i in range(n_methods)
        for rate in (0.0, 0.4)
    ]
    display = NoiseRateCurveDisplay.from_results(rows)
    display.figure_.draw_without_rendering()
    legend = display.ax_.get_legend().get_window_extent()
    assert (legend.x0 > display.ax_.get_window_extent().x1) == is_beside


def test_history_length_has_one_line_per_kind_of_noise(legend_of):
    display = HistoryLengthDisplay.from_results(RESULTS)
    frame = display.frame()
    assert frame["noise"].tolist() == ["pair", "pair", "real"]
    assert frame["q"].tolist() == [5, 1, 5]
    assert legend_of(display) == ["pair", "real"]


def test_the_column_that_defines_the_lines_can_be_chosen(legend_of):
    display = HistoryLengthDisplay.from_results(RESULTS, line="method")
    assert legend_of(display) == ["A", "B"]
    assert "method" in display.frame()


def test_a_search_over_q_in_a_pipeline_is_plotted(noisy_blobs):
    X, y, _ = noisy_blobs
    clf = quick(PrestoppingClassifier, stop=NoiseRateStop(0.5), max_epochs=8)
    pipeline = make_pipeline(StandardScaler(), clf)
    grid = {"prestoppingclassifier__q": [3, 1]}
    search = GridSearchCV(pipeline, grid, cv=2).fit(X, y)
    frame = HistoryLengthDisplay.from_search(search).frame()
    assert frame["q"].tolist() == [1, 3]
    expected = 1 - search.cv_results_["mean_test_score"][::-1]
    np.testing.assert_allclose(frame["error"], expected)
    assert frame["n_trainings"].tolist() == [2, 2]


class ConstantClassifier(DummyClassifier):
    """A classifier with a parameter q that predicts a constant class."""

    def __init__(self, q=1, constant=0):
        super().__init__(strategy="constant", constant=constant)
        self.q = q


def search_of(grid, **settings):
    X, y = np.zeros((12, 1)), np.array([0, 0, 0, 1] * 3)
    return GridSearchCV(ConstantClassifier(), grid, cv=3, **settings).fit(X, y)


def test_each_q_is_shown_with_the_best_values_of_other_parameters():
    search = search_of({"q": [1, 2], "constant": [1, 0]})
    frame = HistoryLengthDisplay.from_search(search).frame()
    np.testing.assert_allclose(frame["error"], [0.25, 0.25])


def test_a_search_over_other_parameters_only_is_rejected():
    with pytest.raises(ValueError, match=r"search was over \['constant'\]. Add 'q'"):
        HistoryLengthDisplay.from_search(search_of({"constant": [0, 1]}))


@pytest.mark.parametrize("scoring", ["neg_log_loss", ["accuracy"]])
def test_a_search_by_another_score_is_rejected(scoring):
    search = search_of({"q": [1, 2]}, scoring=scoring, refit=False)
    with pytest.raises(ValueError, match="needs a search by accuracy"):
        HistoryLengthDisplay.from_search(search)


def test_an_unfitted_search_is_rejected():
    with pytest.raises(NotFittedError):
        HistoryLengthDisplay.from_search(GridSearchCV(ConstantClassifier(), {"q": [1]}))


@pytest.mark.parametrize(
    ("results", "error", "match"),
    [
        ([], ValueError, "needs at least one result, but got none"),
        ("results.csv", TypeError, "a DataFrame or a list of dicts, .* but got str"),
        (3, TypeError, "but got int"),
        ([{"method": "A", "error": 0}], ValueError, "result 0 has no 'rate'; it has"),
        ([{}], ValueError, "it has no columns"),
        (
            [{"method": "A", "rate": 0.4, "error": 12.5}],
            ValueError,
            "fractions between 0 and 1, but result 0 has an error of 12.5. Divide per",
        ),
        (
            [{"method": "A", "rate": 0.4, "error": float("nan")}],
            ValueError,
            "an error of nan",
        ),
    ],
)
def test_incomplete_results_are_rejected(results, error, match):
    with pytest.raises(error, match=match):
        NoiseRateCurveDisplay(results)
