"""LabelCleaningClassifier: any classifier, on labels that were assessed before."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.compose import make_column_transformer
from sklearn.datasets import make_classification
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression, Perceptron
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from skpresto import LabelCleaningClassifier
from skpresto._cleaning.task import Task
from skpresto._label_quality import choice
from skpresto.audit import LabelReport
from skpresto.exceptions import FallbackWarning
from skpresto.noise import PairNoise, SymmetricNoise

NAMES = np.array(["ant", "bee", "cat"])
#: Who assesses labels in a moment.
FEW_TREES = ExtraTreesClassifier(
    20, min_samples_leaf=3, bootstrap=True, oob_score=True, random_state=0
)


@pytest.fixture(scope="module")
def data():
    """Samples, true and given labels, of which three in ten are wrong."""
    X, y = make_classification(
        600,
        n_features=6,
        n_informative=6,
        n_redundant=0,
        n_classes=3,
        n_clusters_per_class=1,
        flip_y=0,
        class_sep=1.5,
        random_state=0,
    )
    return X, NAMES[y], NAMES[PairNoise(0.3, random_state=0).fit_transform(y)]


def quick(estimator=None, **params):
    params = {"assessor": FEW_TREES, "random_state": 0, **params}
    return LabelCleaningClassifier(estimator or DecisionTreeClassifier(), **params)


@pytest.fixture(scope="module")
def fitted(data):
    X, _, given = data
    return quick(assessor=None).fit(X, given)


def test_it_nearly_undoes_pair_noise(data, fitted):
    X, true, given = data
    X_new, X, true_new, true = X[:200], X[200:], true[:200], true[200:]
    plain = DecisionTreeClassifier(random_state=0).fit(X, given[200:])
    cleaned = quick().fit(X, given[200:])
    assert cleaned.score(X_new, true_new) > plain.score(X_new, true_new) + 0.12
    assert not cleaned.used_fallback_
    assert cleaned.gain_ > 0.05


def test_fitted_attributes(data, fitted):
    _, true, given = data
    assert fitted.classes_.tolist() == NAMES.tolist()
    is_wrong = given != true
    assert np.mean(fitted.safe_mask_ == ~is_wrong) > 0.9
    assert abs(fitted.noise_rate_ - 0.3) < 0.08
    assert np.array_equal(fitted.safe_mask_, fitted.label_quality_ >= 0.5)
    assert np.mean(fitted.suggested_labels_ == true) > 0.9
    assert np.array_equal(fitted.corrected_mask_, fitted.corrected_labels_ != given)
    np.testing.assert_allclose(fitted.transition_matrix_.sum(axis=1), 1)
    assert fitted.transition_matrix_[0, 1] == pytest.approx(0.3, abs=0.08)
    assert isinstance(fitted.assessor_, ExtraTreesClassifier)
    assert isinstance(fitted.estimator_, DecisionTreeClassifier)
    assert fitted.label_findings_.basis == "rounds"


def test_a_report_reads_what_it_found_out(data, fitted):
    X, true, given = data
    for estimator in (fitted, GridSearchCV(quick(), {"guard": [False]}, cv=2)):
        if estimator is not fitted:
            estimator.fit(X, given)
        report = LabelReport.from_estimator(estimator, X, given)
        first = report.suspects(100).index
        assert np.mean((given != true)[first]) > 0.9
    with pytest.raises(ValueError, match="was fitted on"):
        LabelReport.from_estimator(fitted, X, given[::-1])


def test_correct_labels_are_learned_as_they_are(data):
    X, true, _ = data
    with pytest.warns(FallbackWarning, match="on the labels as they are given"):
        cleaned = quick(DecisionTreeClassifier(random_state=0)).fit(X, true)
    assert cleaned.used_fallback_
    assert not cleaned.corrected_mask_.any()
    plain = DecisionTreeClassifier(random_state=0).fit(X, true)
    assert np.array_equal(cleaned.predict_proba(X), plain.predict_proba(X))


def test_an_assessor_that_knows_nothing_does_no_harm(data):
    X, _, given = data
    blind = make_pipeline(CountNothing(), GaussianNB())
    with pytest.warns(FallbackWarning):
        quick(GaussianNB(), assessor=blind).fit(X, given)
    unguarded = quick(GaussianNB(), assessor=blind, guard=False).fit(X, given)
    assert not unguarded.used_fallback_
    assert unguarded.gain_ is None


class CountNothing(BaseEstimator):
    """Replaces samples by noise."""

    def fit(self, X, y=None):
        return self

    def transform(self, X):
        return np.random.RandomState(0).normal(size=(len(X), 2))


@pytest.mark.parametrize(
    "estimator",
    [
        KNeighborsClassifier(),  # takes no weights
        Perceptron(),  # predicts no probabilities
        make_pipeline(StandardScaler(), LogisticRegression()),
        GridSearchCV(DecisionTreeClassifier(), {"max_depth": [2, 5]}, cv=2),
    ],
)
def test_kinds_of_classifiers(data, estimator):
    X, true, given = data
    cleaned = quick(estimator, guard=False).fit(X, given)
    assert cleaned.score(X, true) > 0.75
    assert hasattr(cleaned, "predict_proba") == hasattr(estimator, "predict_proba")
    assert hasattr(cleaned, "decision_function") == hasattr(
        estimator, "decision_function"
    )


def test_who_takes_no_weights_learns_rows_that_are_believed(data):
    class Recorder(KNeighborsClassifier):
        def fit(self, X, y):
            self.n_rows_ = len(X)
            return super().fit(X, y)

    X, _, given = data
    cleaned = quick(Recorder(), guard=False).fit(X, given)
    assert 0.8 * len(X) < cleaned.estimator_.n_rows_ <= len(X)


def test_rows_of_weight_0_are_as_if_absent_but_assessed(data):
    X, true, given = data
    weight = np.ones(len(X))
    weight[::3] = 0
    kept = weight > 0
    garbled = given.copy()
    garbled[::3] = "ant"
    by_weight = quick(GaussianNB(), guard=False).fit(X, garbled, sample_weight=weight)
    without = quick(GaussianNB(), guard=False).fit(X[kept], given[kept])
    agreement = by_weight.predict(X) == without.predict(X)
    assert agreement.mean() > 0.97
    assert len(by_weight.label_quality_) == len(X)
    wrong = (true != "ant")[::3]
    assert by_weight.label_quality_[::3][wrong].mean() < 0.3
    assert by_weight.label_quality_[::3][~wrong].mean() > 0.7


def test_a_class_of_weight_0_keeps_its_column(data):
    X, _, given = data
    weight = (given != "bee").astype(float)
    for classes in (given, np.unique(given, return_inverse=True)[1]):
        cleaned = quick(GaussianNB(), guard=False).fit(X, classes, sample_weight=weight)
        assert cleaned.predict_proba(X).shape == (len(X), 3)
        assert (cleaned.predict_proba(X)[:, 1] == 0).all()
        assert np.isneginf(cleaned.predict_log_proba(X)[:, 1]).all()
        second = np.unique(classes)[1]
        assert second not in cleaned.predict(X)


@pytest.mark.parametrize(
    ("most_compared", "weights_0", "n_fits"), [(600, 0, 5), (600, 50, 5), (300, 0, 6)]
)
def test_what_was_found_out_to_compare_is_not_found_out_again(
    data, monkeypatch, most_compared, weights_0, n_fits
):
    """Two further fits are enough if the comparison was on all rows, else three are."""
    X, true, given = data
    n_rows = []

    class Recorder(GaussianNB):
        oob_score = True

        def fit(self, X, y, sample_weight=None):
            n_rows.append(len(X))
            super().fit(X, y, sample_weight)
            self.oob_decision_function_ = self.predict_proba(X)
            return self

    monkeypatch.setattr(choice, "MOST_COMPARED", most_compared)
    weight = np.ones(len(X))
    weight[:weights_0] = 0
    cleaned = quick(assessor=Recorder()).fit(X, given, sample_weight=weight)
    assert len(n_rows) == n_fits
    assert n_rows[0] == pytest.approx(0.75 * min(most_compared, weight.sum()), abs=2)
    assert n_rows[3] == weight.sum()
    assert np.mean(cleaned.suggested_labels_ == true) > 0.8


def test_a_gain_that_may_be_chance_is_none(data, monkeypatch):
    """Learning what is believed must gain half a standard error on held-out rows."""
    X, _, given = data
    values = iter([np.zeros(100), np.linspace(-1, 1, 100) + 0.02] * 2)
    monkeypatch.setattr(Task, "explained", lambda *_: next(values))
    with pytest.warns(FallbackWarning):
        cleaned = quick().fit(X, given)
    assert cleaned.gain_ == pytest.approx(0.02)
    values = iter([np.zeros(100), np.linspace(-1, 1, 100) + 0.04])
    assert not quick().fit(X, given).used_fallback_


def test_groups_stay_together(data):
    X, _, given = data
    groups = np.arange(len(X)) // 2
    seen = []

    class Recorder(GaussianNB):
        def fit(self, X, y, sample_weight=None):
            seen.append({int(row) for row in X[:, -1]})
            return super().fit(X, y, sample_weight)

    numbered = np.column_stack([X, groups])
    params = {"assessor": Recorder(), "cv": GroupKFold(3)}
    quick(Recorder(), **params).fit(numbered, given, groups=groups)
    fold_of = np.empty(len(X), dtype=int)
    for k, (_, test) in enumerate(GroupKFold(3).split(X, given, groups)):
        fold_of[groups[test]] = k
    folds_seen = [set(fold_of[sorted(of_fit)]) for of_fit in seen]
    # All but the last, the final one, leave at least one fold out, and whole groups.
    assert all(len(folds) < 3 for folds in folds_seen[:-1])
    with pytest.raises(ValueError, match="pass groups to fit"):
        quick(**params).fit(X, given)


def test_samples_of_other_kinds(data):
    X, true, given = data
    model = quick(LogisticRegression(), guard=False)
    expected = model.fit(X, given).score(X, true)
    for kind in (sparse.csr_array, sparse.coo_array, pd.DataFrame, np.ndarray.tolist):
        found = model.fit(kind(X), given)
        assert found.score(kind(X), true) > expected - 0.03


def test_columns_of_any_kind_and_missing_values(data):
    X, true, given = data
    frame = pd.DataFrame(X).add_prefix("x")
    frame["colour"] = np.where(X[:, 0] > 0, "red", "blue")
    frame["colour"] = frame["colour"].astype("category")
    frame.loc[::7, "x1"] = np.nan
    encoder = make_column_transformer(
        (OneHotEncoder(), ["colour"]), remainder="passthrough"
    )
    model = make_pipeline(encoder, DecisionTreeClassifier(max_depth=6))
    cleaned = quick(model, assessor=None, guard=False).fit(frame, given)
    assert cleaned.score(frame, true) > 0.8
    assert cleaned.feature_names_in_.tolist() == frame.columns.tolist()
    assert cleaned.n_features_in_ == frame.shape[1]


def test_texts_are_assessed_by_the_classifier_itself():
    rng = np.random.RandomState(0)
    y = rng.randint(2, size=200)
    words = np.array([["good", "nice"], ["bad", "awful"]])
    texts = [f"{words[c][rng.randint(2)]} word{rng.randint(9)}" for c in y]
    given = SymmetricNoise(0.2, random_state=0).fit_transform(y)
    model = make_pipeline(CountVectorizer(), LogisticRegression())
    cleaned = LabelCleaningClassifier(model, cv=3, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FallbackWarning)
        cleaned.fit(texts, given)
    assert cleaned.score(texts, y) == 1
    assert np.mean(cleaned.safe_mask_ == (given == y)) > 0.95
    assert type(cleaned.assessor_) is type(model)
    with pytest.raises(TypeError, match="needs an assessor with predict_proba"):
        LabelCleaningClassifier(make_pipeline(CountVectorizer(), Perceptron())).fit(
            texts, given
        )


def test_a_search_over_parameters_inside(data):
    X, true, given = data
    grid = {"estimator__max_depth": [1, 6]}
    search = GridSearchCV(quick(guard=False), grid, cv=2).fit(X, given)
    assert search.best_params_ == {"estimator__max_depth": 6}
    assert search.best_estimator_.score(X, true) > 0.8


def test_clone_pickle_and_seed(data, fitted):
    X, _, given = data
    restored = pickle.loads(pickle.dumps(fitted))
    assert np.array_equal(restored.predict_proba(X), fitted.predict_proba(X))
    again = clone(fitted).fit(X, given)
    assert np.array_equal(again.label_quality_, fitted.label_quality_)
    assert np.array_equal(again.predict_proba(X), fitted.predict_proba(X))


def test_metadata_is_routed_to_the_classifier(data):
    X, _, given = data

    class TakesNote(ClassifierMixin, BaseEstimator):
        def fit(self, X, y, note=None):
            self.classes_ = np.unique(y)
            self.note_ = note
            return self

        def predict(self, X):
            return np.repeat(self.classes_[:1], len(X))

    def note_of(estimator, **params):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FallbackWarning)
            return quick(estimator).fit(X, given, **params).estimator_.note_

    assert note_of(TakesNote(), note="a") == "a"
    with config_context(enable_metadata_routing=True):
        assert note_of(TakesNote().set_fit_request(note=True), note="b") == "b"
        assert note_of(TakesNote().set_fit_request(note="memo"), memo="c") == "c"
        weight = np.ones(len(X))
        routed = quick(GaussianNB(), guard=False).fit(X, given, sample_weight=weight)
        assert routed.predict(X).shape == given.shape


def test_bad_input_is_refused_with_a_way_out(data):
    X, _, given = data
    with pytest.raises(ValueError, match="takes none. Leave it out"):
        quick(KNeighborsClassifier()).fit(X, given, sample_weight=np.arange(600) + 1)
    with pytest.raises(ValueError, match="at least 2 classes"):
        quick().fit(X, np.repeat("ant", 600))
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        quick().fit(X, given[:-1])
    with pytest.raises(ValueError, match="'assessor' parameter"):
        quick(assessor=Perceptron()).fit(X, given)


def test_few_rows_are_enough():
    X, y = [[0.0], [1.0], [2.0]], ["a", "b", "c"]
    cleaned = LabelCleaningClassifier(DecisionTreeClassifier(), random_state=0)
    with pytest.warns(FallbackWarning):
        cleaned.fit(X, y)
    assert cleaned.predict(X).tolist() == y
