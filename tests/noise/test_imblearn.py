"""Injectors as steps of the real imbalanced-learn Pipeline."""

import numpy as np
import pytest
from imblearn.pipeline import Pipeline, make_pipeline
from imblearn.under_sampling import RandomUnderSampler
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.preprocessing import StandardScaler

from skpresto.noise import (
    InstanceDependentNoise,
    PairNoise,
    SymmetricNoise,
    TransitionMatrixNoise,
)

X, y = load_iris(return_X_y=True)

INJECTORS = [
    SymmetricNoise(0.3, random_state=0),
    PairNoise(0.3, random_state=0),
    TransitionMatrixNoise([[0.5, 0.5, 0], [0, 1, 0], [0, 0, 1]], random_state=0),
    InstanceDependentNoise(0.3, random_state=0),
]


class Recorder(ClassifierMixin, BaseEstimator):
    """Remember the labels of ``fit``; predict the first class."""

    def fit(self, X, y):
        self.seen_X_, self.seen_y_, self.classes_ = X, y, np.unique(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0])


@pytest.mark.parametrize("noise", INJECTORS, ids=repr)
def test_pipeline_fits_on_noisy_labels(noise):
    pipe = make_pipeline(noise, Recorder()).fit(X, y)
    assert pipe[-1].seen_X_ is X
    np.testing.assert_array_equal(pipe[-1].seen_y_, clone(noise).fit_transform(y, X))
    assert pipe[0].realized_rate_ > 0.1


def test_pipeline_fits_twice_and_predicts_without_noise():
    pipe = make_pipeline(StandardScaler(), SymmetricNoise(0.3), GaussianNB())
    for _ in range(2):
        pipe.fit(X, y)
    np.testing.assert_array_equal(
        pipe.predict(X), pipe[-1].predict(pipe[0].transform(X))
    )
    assert pipe.score(X, y) > 0.8
    assert "SymmetricNoise" in pipe._repr_html_()


def test_a_fitted_injector_can_become_a_step():
    noise = PairNoise(1.0).fit(y)
    noise.transform(y)
    pipe = make_pipeline(noise, Recorder()).fit(X, y)
    np.testing.assert_array_equal(pipe[-1].seen_y_, (y + 1) % 3)


def test_noise_follows_other_samplers():
    noise = InstanceDependentNoise(0.2, exact=True, random_state=0)
    pipe = make_pipeline(RandomUnderSampler(random_state=0), noise, Recorder())
    pipe.fit(X[:120], y[:120])
    assert len(pipe[-1].seen_y_) == 60
    assert noise.get_params() == pipe[1].get_params()
    assert pipe[1].flipped_mask_.sum() == 12


def test_grid_search_sets_the_rate_and_scores_on_clean_labels():
    pipe = Pipeline([("noise", PairNoise(random_state=0)), ("model", GaussianNB())])
    search = GridSearchCV(pipe, {"noise__rate": [0.0, 1.0]}, error_score="raise")
    search.fit(X, y)
    clean, swapped = search.cv_results_["mean_test_score"]
    assert clean > 0.9
    assert swapped < 0.05


def test_cross_validation_runs_in_parallel_with_equal_results():
    pipe = make_pipeline(SymmetricNoise(0.3, random_state=0), GaussianNB())
    np.testing.assert_array_equal(
        cross_val_score(pipe, X, y, n_jobs=2), cross_val_score(pipe, X, y)
    )


def test_outside_of_that_pipeline_all_methods_are_there():
    for noise in INJECTORS:
        for method in ("fit", "transform", "fit_transform", "fit_resample"):
            assert hasattr(noise, method)
    assert SymmetricNoise.transform.__doc__.startswith("Return a noisy copy")
