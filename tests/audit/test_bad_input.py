"""Every mistake gets a sentence that names it and the way out."""

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skpresto import PrestoppingClassifier
from skpresto.audit import LabelReport
from tests.discovery import quick

# A few epochs are enough here, and too few for the stop rule to settle.
pytestmark = pytest.mark.filterwarnings("ignore:.*max_epochs:UserWarning")

from_estimator = LabelReport.from_estimator
from_probabilities = LabelReport.from_probabilities


@pytest.mark.parametrize(
    "estimator",
    [
        PrestoppingClassifier(),
        make_pipeline(StandardScaler(), PrestoppingClassifier()),
        GridSearchCV(PrestoppingClassifier(), {"q": [5]}),
        LogisticRegression(),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_an_estimator_must_be_fitted(estimator, blobs):
    with pytest.raises(NotFittedError, match="not fitted yet"):
        from_estimator(estimator, *blobs)


def test_a_regressor_has_no_labels(blobs):
    with pytest.raises(TypeError, match="needs a classifier, .* got LinearRegression"):
        from_estimator(LinearRegression().fit(*blobs), *blobs)


def test_something_that_is_no_estimator_is_named(blobs):
    with pytest.raises(TypeError, match="needs a fitted classifier, got 'clf'"):
        from_estimator("clf", *blobs)


def test_a_search_must_have_kept_its_best_estimator(blobs):
    clf = quick(PrestoppingClassifier, max_epochs=2)
    search = GridSearchCV(clf, {"q": [5]}, cv=2, refit=False).fit(*blobs)
    with pytest.raises(ValueError, match="Search with refit=True"):
        from_estimator(search, *blobs)


def test_labels_must_be_as_many_as_in_fit(fitted, animals):
    X, y, _ = animals
    with pytest.raises(ValueError, match="fitted on, which are 400, but y has 399"):
        from_estimator(fitted, X, y[1:])
    with pytest.raises(ValueError, match="X has 399 samples and y has 400 labels"):
        from_estimator(fitted, X[1:], y)
    with pytest.raises(ValueError, match="X has 3 samples"):
        from_estimator(fitted, [[0], [1], [2]], y)


def test_labels_must_be_those_of_fit(fitted, animals):
    X, y, y_true = animals
    for other in (y_true, y.to_numpy()[::-1]):
        with pytest.raises(ValueError, match="differs from them in values or order"):
            from_estimator(fitted, X, other)
    with pytest.raises(ValueError, match="not among them: 'emu'.*the labels of fit"):
        from_estimator(fitted, X, ["emu"] * 400)


def test_labels_may_be_missing_nowhere(fitted, animals):
    X, y, _ = animals
    with pytest.raises(ValueError, match="y contains missing values"):
        from_estimator(fitted, X, [None, *y[1:]])


@pytest.mark.parametrize("shape", [(4,), (4, 1), (4, 2, 2)])
def test_probabilities_must_have_a_column_per_class(shape):
    with pytest.raises(ValueError, match=r"shape \(n_samples, n_classes\)"):
        from_probabilities(np.ones(shape), [0, 1, 0, 1])


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_probabilities_must_be_finite(value):
    with pytest.raises(ValueError, match="contains NaN or infinity"):
        from_probabilities([[value, 1.0], [0.5, 0.5]], [0, 1])


@pytest.mark.parametrize("row", [[0.5, 0.6], [2.0, -1.0], [0.0, 0.0], [-3.0, 1.0]])
def test_probabilities_must_sum_to_one(row):
    with pytest.raises(ValueError, match="row 1 of pred_proba sums to.*softmax"):
        from_probabilities([[0.5, 0.5], row], [0, 1])


def test_probabilities_in_half_precision_are_accepted(probabilities):
    probability, y = probabilities
    half = from_probabilities(probability.astype(np.float16), y).frame
    full = from_probabilities(probability, y).frame
    assert np.allclose(half["quality"], full["quality"], atol=0.01)


def test_there_must_be_as_many_rows_as_labels(probabilities):
    probability, y = probabilities
    with pytest.raises(ValueError, match="120 rows and y has 119 labels"):
        from_probabilities(probability, y[1:])
    with pytest.raises(ValueError, match="X has 5 samples and y has 120 labels"):
        from_probabilities(probability, y, X=np.ones((5, 2)))


def test_classes_must_name_the_columns(probabilities):
    probability, y = probabilities
    with pytest.raises(ValueError, match="y has 2 distinct values. Pass classes="):
        from_probabilities(probability, y % 2)
    with pytest.raises(ValueError, match="classes has 2 distinct values"):
        from_probabilities(probability, y, classes=[0, 1, 1])
    with pytest.raises(ValueError, match="not among them: 2.*classes of all columns"):
        from_probabilities(probability, y, classes=[0, 1, 3])
    with pytest.raises(ValueError, match="at least one label"):
        from_probabilities(np.ones((0, 2)), [])


def test_classes_and_columns_must_have_one_order(probabilities):
    probability, y = probabilities
    frame = pd.DataFrame(probability, columns=[0, 1, 2])
    named = from_probabilities(frame, y, classes=[0, 1, 2]).frame
    pd.testing.assert_frame_equal(named, from_probabilities(frame, y).frame)
    with pytest.raises(ValueError, match="columns 0, 1, 2, and classes= begins with 2"):
        from_probabilities(frame, y, classes=[2, 1, 0])


def test_trajectories_must_be_as_many_as_labels(fitted, animals):
    X, y, _ = animals
    with pytest.raises(
        ValueError, match="but trajectories has 3 samples and y has 400"
    ):
        from_estimator(fitted, X, y, trajectories=np.zeros((3, 5)))


@pytest.mark.parametrize("n", [-1, 401, 2.5, "7"])
def test_numbers_of_labels_must_be_possible(report, n):
    with pytest.raises(ValueError, match="integer from 0 to 400, got"):
        report.expected_errors(n)
    with pytest.raises(ValueError, match="suspects needs n to be an integer"):
        report.suspects(n)


def test_a_budget_is_a_number_of_labels(report):
    with pytest.raises(ValueError, match="needs budget to be an integer from 0"):
        report.suspects(budget=-1)
