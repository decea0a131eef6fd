"""Out-of-sample probabilities of given labels, from any scikit-learn classifier."""

import warnings

import joblib
import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import make_blobs
from sklearn.ensemble import BaggingClassifier, ExtraTreesClassifier
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LogisticRegression, Perceptron
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    PredefinedSplit,
    ShuffleSplit,
    StratifiedKFold,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from skpresto._label_quality.assessor import assessor_of
from skpresto._label_quality.weighted_fit import fit_rows, name_of_weights

CLASSES = np.array(["a", "b", "c"])
FOREST = ExtraTreesClassifier(20, bootstrap=True, oob_score=True)


@pytest.fixture(scope="module")
def data():
    X, codes = make_blobs(90, centers=3, cluster_std=3.0, random_state=0)
    return X, codes


def assessed(estimator, data, classes=CLASSES, sample_weight=None, seed=0, **how):
    X, codes = data
    rng = np.random.RandomState(seed)
    assessor = assessor_of(estimator, codes, rng, **how)
    return assessor.probabilities(X, codes, classes, rng, sample_weight)


class Memory(ClassifierMixin, BaseEstimator):
    """Predicts with certainty what it was trained on, and else the first class."""

    def fit(self, X, y, sample_weight=None):
        self.classes_ = np.unique(y)
        kept = slice(None) if sample_weight is None else sample_weight > 0
        self.known_ = dict(zip(map(tuple, X[kept]), y[kept], strict=True))
        self.weights_ = sample_weight
        return self

    def predict_proba(self, X):
        labels = [self.known_.get(tuple(row), self.classes_[0]) for row in X]
        return (np.array(labels)[:, None] == self.classes_).astype(float)

    def predict(self, X):
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


def bagged_memory():
    return BaggingClassifier(Memory(), 30, oob_score=True)


@pytest.mark.parametrize("estimator", [Memory(), bagged_memory()])
def test_no_row_is_predicted_by_a_model_trained_on_it(data, estimator):
    probability = assessed(estimator, data)
    assert (probability.argmax(axis=1) == 0).all()
    np.testing.assert_allclose(probability.sum(axis=1), 1, rtol=1e-5)
    assert (probability > 0).all()


@pytest.mark.parametrize("estimator", [Memory(), bagged_memory()])
def test_rows_of_weight_0_are_not_trained_on_but_predicted(data, estimator):
    weight = np.ones(90)
    weight[data[1] == 2] = 0
    probability = assessed(estimator, data, sample_weight=weight)
    assert (probability[:, 2] < 0.01).all()
    np.testing.assert_allclose(probability.sum(axis=1), 1, rtol=1e-5)


def test_folds_are_those_of_a_loop(data):
    X, codes = data
    cv = StratifiedKFold(3)
    probability = assessed(GaussianNB(), data, cv=cv)
    for train, test in cv.split(X, codes):
        rows = GaussianNB().fit(X[train], codes[train]).predict_proba(X[test])
        expected = 0.99 * rows + 0.01 / 3
        np.testing.assert_allclose(probability[test], expected, rtol=1e-5)


def test_out_of_bag_probabilities_are_those_of_the_forest(data):
    X, codes = data
    forest = clone(FOREST).set_params(random_state=3)
    probability = assessed(forest, data)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = clone(forest).fit(X, codes).oob_decision_function_
    known = expected.any(axis=1)
    np.testing.assert_allclose(
        probability[known], 0.99 * expected[known] + 0.01 / 3, rtol=1e-5
    )


def test_rows_that_all_trees_saw_are_unknown(data):
    few = ExtraTreesClassifier(1, bootstrap=True, oob_score=True)
    probability = assessed(few, data)
    is_known = probability.any(axis=1)
    assert 0.2 < is_known.mean() < 0.6
    np.testing.assert_allclose(probability[is_known].sum(axis=1), 1, rtol=1e-5)


def test_a_splitter_is_used_even_with_out_of_bag_scores(data):
    X, codes = data
    X, codes = np.repeat(X, 2, axis=0), np.repeat(codes, 2)
    codes = np.random.RandomState(0).permutation(codes)
    codes[1::2] = codes[::2]  # twins share a random label
    groups = np.repeat(np.arange(90), 2)
    leaking = assessed(FOREST, (X, codes))
    kept = assessed(FOREST, (X, codes), cv=GroupKFold(5), groups=groups)
    of_pairs = list(GroupKFold(5).split(X, codes, groups))
    as_pairs = assessed(FOREST, (X, codes), cv=of_pairs)
    accuracy = [(p.argmax(axis=1) == codes).mean() for p in (leaking, kept, as_pairs)]
    assert accuracy[0] > 0.7
    assert max(accuracy[1:]) < 0.5


def test_a_class_missing_in_a_fold_keeps_its_column(data):
    X, codes = data
    cv = PredefinedSplit(codes)  # each fold is a class
    probability = assessed(GaussianNB(), data, cv=cv)
    own = probability[np.arange(90), codes]
    np.testing.assert_allclose(own, 0.01 / 3, rtol=1e-5)
    two = codes < 2  # a single class is left to train on
    probability = assessed(
        LogisticRegression(), (X[two], codes[two]), cv=PredefinedSplit(codes[two])
    )
    assert probability.argmax(axis=1).tolist() == (1 - codes[two]).tolist()


class TakesConsecutiveNumbers(GaussianNB):
    def fit(self, X, y, sample_weight=None):
        assert np.unique(y).tolist() == list(range(len(np.unique(y))))
        return super().fit(X, y, sample_weight)


def test_numbers_stay_consecutive_if_a_class_is_missing(data):
    cv = PredefinedSplit(data[1])
    found = assessed(TakesConsecutiveNumbers(), data, classes=np.arange(3), cv=cv)
    expected = assessed(GaussianNB(), data, cv=cv)
    np.testing.assert_allclose(found, expected, rtol=1e-5)
    weighted = DecisionTreeClassifier(class_weight={0: 1, 1: 1, 2: 5})
    assert assessed(weighted, data, classes=np.arange(3), cv=cv).shape == (90, 3)


def test_a_seed_gives_the_same_and_no_seed_of_the_user_is_replaced(data):
    again, first, other = (assessed(FOREST, data, seed=s) for s in (0, 0, 1))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)
    seeded = clone(FOREST).set_params(random_state=7)
    assert np.array_equal(*(assessed(seeded, data, seed=s) for s in (0, 1)))


@pytest.mark.parametrize("kind", [sparse.csr_array, pd.DataFrame, np.ndarray.tolist])
def test_kinds_of_samples(data, kind):
    X, codes = data
    estimator = LogisticRegression()
    expected = assessed(estimator, data, cv=3)
    found = assessed(estimator, (kind(X), codes), cv=3)
    np.testing.assert_allclose(found, expected, atol=0.02)


def test_folds_fitted_at_the_same_time_give_the_same(data):
    with joblib.parallel_config("threading"):
        one, two = (assessed(FOREST, data, cv=KFold(3), n_jobs=n) for n in (1, 2))
    assert np.array_equal(one, two)


def test_selected_features_tell_no_labels_of_rows_that_are_predicted():
    """Of many columns of noise, those are selected that go with the labels."""
    rng = np.random.RandomState(0)
    X, codes = rng.normal(size=(60, 2000)), rng.randint(2, size=60)
    pipeline = make_pipeline(SelectKBest(k=5), FOREST)
    probability = assessed(pipeline, (X, codes), classes=np.array(["a", "b"]))
    assert (probability.argmax(axis=1) == codes).mean() < 0.7


def test_weights_reach_the_last_step_of_pipelines_and_searches(data):
    X, codes = data
    rows, weights = np.arange(90), np.linspace(1, 2, 90)
    pipeline = Pipeline([("scale", StandardScaler()), ("last", Memory())])
    search = GridSearchCV(
        pipeline, {"scale__with_mean": [True]}, cv=2, scoring="accuracy"
    )
    for routed in (False, True):
        with config_context(enable_metadata_routing=routed):
            found = fit_rows(clone(pipeline), X, codes, CLASSES, rows, weights)
            assert np.array_equal(found[-1].weights_, weights)
            found = fit_rows(clone(search), X, codes, CLASSES, rows, weights)
            assert np.array_equal(found.best_estimator_[-1].weights_, weights)
    assert name_of_weights(make_pipeline(KNeighborsClassifier())) is None
    equal = fit_rows(Memory(), X, codes, CLASSES, rows, np.full(90, 2.0))
    assert equal.weights_ is None


def test_fit_params_with_an_entry_per_sample_are_indexed(data):
    X, codes = data
    weights = np.arange(90.0)
    params = {"sample_weight": weights}
    rows = np.arange(5, 40)
    found = fit_rows(Memory(), X, codes, CLASSES, rows, params=params)
    assert np.array_equal(found.weights_, weights[5:40])


def test_bad_input_is_refused_with_a_way_out(data):
    with pytest.raises(TypeError, match="Perceptron has none. Wrap it in"):
        assessed(Perceptron(), data)
    for cv in ("five", 2.5, StratifiedKFold):
        with pytest.raises(TypeError, match="needs cv to be an int, a splitter"):
            assessed(GaussianNB(), data, cv=cv)
    with pytest.raises(ValueError, match="needs disjoint test folds"):
        assessed(GaussianNB(), data, cv=ShuffleSplit(5, random_state=0))
    with pytest.raises(ValueError, match="pass groups to fit"):
        assessed(GaussianNB(), data, cv=GroupKFold(3))
    with pytest.raises(ValueError, match="are test rows of the same"):
        assessed(GaussianNB(), data, cv=[(np.arange(90), np.arange(90))])
    with pytest.raises(ValueError, match="some sample is in 0 of them"):
        assessed(GaussianNB(), data, cv=[])
