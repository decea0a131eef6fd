"""Label noise as a step of imbalanced-learn's Pipeline."""

import pickle

import numpy as np
import pandas as pd
import pytest
from imblearn.pipeline import Pipeline, make_pipeline
from imblearn.under_sampling import RandomUnderSampler
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.preprocessing import StandardScaler
from sklearn.utils import estimator_checks

from skpresto.noise import (
    InstanceDependentNoise,
    NoiseSampler,
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
    """Record the arguments of ``fit``; predict the first class."""

    def fit(self, X, y):
        self.seen_X_, self.seen_y_, self.classes_ = X, y, np.unique(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0])


@pytest.mark.parametrize("noise", INJECTORS, ids=repr)
def test_pipeline_fits_on_noisy_labels(noise):
    pipe = make_pipeline(noise.as_sampler(), Recorder()).fit(X, y)
    assert pipe[-1].seen_X_ is X
    np.testing.assert_array_equal(pipe[-1].seen_y_, clone(noise).fit_transform(y, X))
    assert pipe[0].noise_.realized_rate_ > 0.1
    assert not hasattr(noise, "classes_")


def test_pipeline_fits_twice_and_predicts_without_noise():
    sampler = SymmetricNoise(0.3).as_sampler()
    pipe = make_pipeline(StandardScaler(), sampler, GaussianNB())
    for _ in range(2):
        pipe.fit(X, y)
    np.testing.assert_array_equal(
        pipe.predict(X), pipe[-1].predict(pipe[0].transform(X))
    )
    assert pipe.score(X, y) > 0.8
    assert "SymmetricNoise" in pipe._repr_html_()


def test_sampler_of_a_fitted_injector_is_refitted():
    noise = PairNoise(1.0).fit(["a", "b"])
    pipe = make_pipeline(noise.as_sampler(), Recorder()).fit(X, y)
    np.testing.assert_array_equal(pipe[-1].seen_y_, (y + 1) % 3)
    assert noise.classes_.tolist() == ["a", "b"]


def test_noise_after_another_sampler():
    noise = InstanceDependentNoise(0.2, exact=True, random_state=0)
    undersampler = RandomUnderSampler(random_state=0)
    pipe = make_pipeline(undersampler, noise.as_sampler(), Recorder())
    pipe.fit(X[:120], y[:120])
    assert len(pipe[-1].seen_y_) == 60
    assert pipe[1].noise_.flipped_mask_.sum() == 12


def test_grid_search_sets_the_rate_and_scores_on_clean_labels():
    sampler = NoiseSampler(PairNoise(random_state=0))
    pipe = Pipeline([("sampler", sampler), ("model", GaussianNB())])
    grid = {"sampler__noise__rate": [0.0, 1.0]}
    search = GridSearchCV(pipe, grid, error_score="raise").fit(X, y)
    clean, swapped = search.cv_results_["mean_test_score"]
    assert clean > 0.9
    assert swapped < 0.05


def test_grid_search_over_injectors_and_no_noise():
    pipe = Pipeline([("sampler", NoiseSampler(None)), ("model", GaussianNB())])
    grid = {"sampler__noise": [None, PairNoise(1.0)]}
    search = GridSearchCV(pipe, grid, error_score="raise").fit(X, y)
    assert search.best_params_ == {"sampler__noise": None}
    assert search.best_estimator_[0].noise_ is None


def test_sampler_works_with_metadata_routing():
    with config_context(enable_metadata_routing=True):
        pipe = make_pipeline(PairNoise(1.0).as_sampler(), Recorder()).fit(X, y)
    np.testing.assert_array_equal(pipe[-1].seen_y_, (y + 1) % 3)


def test_sampler_may_be_the_last_step():
    pipe = make_pipeline(StandardScaler(), PairNoise(1.0).as_sampler())
    _, y_noisy = pipe.fit_resample(X, y)
    np.testing.assert_array_equal(y_noisy, (y + 1) % 3)
    assert pipe.fit(X, y)[-1].noise_.realized_rate_ == 1


@pytest.mark.parametrize("noise", [None, PairNoise(1.0)])
def test_sampler_returns_samples_unchanged_and_series_as_series(noise):
    series = pd.Series(y, index=np.arange(len(y)) + 7, name="kind")
    X_out, y_out = NoiseSampler(noise).fit_resample(X, series)
    assert X_out is X
    assert y_out.index.equals(series.index)
    assert (y_out == series).all() == (noise is None)


def test_sampler_can_be_cloned_and_pickled():
    sampler = SymmetricNoise(0.3, random_state=0).as_sampler()
    expected = sampler.fit_resample(X, y)[1]
    assert not hasattr(clone(sampler), "noise_")
    for copied in (clone(sampler), pickle.loads(pickle.dumps(sampler))):
        np.testing.assert_array_equal(copied.fit_resample(X, y)[1], expected)
    sampler.set_params(noise__rate=0.0)
    np.testing.assert_array_equal(sampler.fit_resample(X, y)[1], y)


@pytest.mark.parametrize(
    "name",
    [
        "check_estimator_repr",
        "check_estimator_tags_renamed",
        "check_get_params_invariance",
        "check_mixin_order",
        "check_no_attributes_set_in_init",
        "check_set_params",
        "check_valid_tag_types",
    ],
)
def test_sampler_passes_scikit_learns_checks_of_parameters(name):
    check = getattr(estimator_checks, name)
    check("NoiseSampler", NoiseSampler(SymmetricNoise()))
