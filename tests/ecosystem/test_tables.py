"""DataFrames of pandas and polars, and the tables of skrub."""

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler


@pytest.mark.parametrize("package", ["pandas", "polars"])
def test_data_frames_are_fitted_as_their_arrays_are(package, clf, data):
    frames = pytest.importorskip(package)
    X, y = data
    table = frames.DataFrame({"first": X[:, 0], "second": X[:, 1]})
    clf.fit(table, frames.Series(y))
    assert list(clf.feature_names_in_) == ["first", "second"]
    by_frame = clf.predict_proba(table)
    by_array = clf.fit(X, y).predict_proba(X)
    np.testing.assert_array_equal(by_frame, by_array)


@pytest.mark.parametrize("package", ["pandas", "polars"])
def test_steps_before_the_classifier_may_return_data_frames(package, clf, data):
    frames = pytest.importorskip(package)
    X, y = data
    table = frames.DataFrame({"first": X[:, 0], "second": X[:, 1]})
    model = make_pipeline(StandardScaler(), clf).set_output(transform=package)
    model.fit(table, y)
    assert list(model[-1].feature_names_in_) == ["first", "second"]
    assert model.score(table, y) > 0.6


def test_skrub_prepares_columns_of_mixed_types(clf, data):
    skrub = pytest.importorskip("skrub")
    pd = pytest.importorskip("pandas")
    X, y = data
    table = pd.DataFrame({"number": X[:, 0], "sign": np.where(X[:, 1] > 0, "+", "-")})
    table.loc[3, "number"] = np.nan
    model = skrub.tabular_pipeline(clf).fit(table, y)
    assert model.predict_proba(table).shape == (240, 3)
