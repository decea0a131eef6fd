"""The classifier is trained on noisy labels and everything else is without noise."""

import copy
import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import load_iris
from sklearn.dummy import DummyClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression, Perceptron
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_validate
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from skpresto.noise import (
    InstanceDependentNoise,
    NoisyTargetClassifier,
    PairNoise,
    SymmetricNoise,
)

X, y = load_iris(return_X_y=True)
NAMES = np.array(["setosa", "versicolor", "virginica"])


class Recorder(ClassifierMixin, BaseEstimator):
    """Record every argument of ``fit``, and set attributes as classifiers here do."""

    def __init__(self, q=1):
        self.q = q

    def fit(self, X, y, *, X_val=None, y_val=None, y_true=None):
        self.fit_arguments_ = {
            "X": X, "y": y, "X_val": X_val, "y_val": y_val, "y_true": y_true
        }  # fmt: skip
        self.classes_, self.n_features_in_ = np.unique(y), np.shape(X)[1]
        self.safe_mask_ = np.asarray(y) == np.asarray(y if y_true is None else y_true)
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[self.q % len(self.classes_)])


class Memorizer(ClassifierMixin, BaseEstimator):
    """Predicts the training label of each row; ``fit`` does not take ``y_true``."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.answers_ = {tuple(row): label for row, label in zip(X, y, strict=True)}
        return self

    def predict(self, X):
        return np.array([self.answers_.get(tuple(row), -1) for row in X])


def test_classifier_is_fitted_to_noisy_labels():
    noise = SymmetricNoise(0.4, random_state=0)
    model = NoisyTargetClassifier(Recorder(), noise).fit(X, NAMES[y])
    seen = model.classifier_.fit_arguments_
    assert seen["X"] is X
    np.testing.assert_array_equal(seen["y"], clone(noise).fit_transform(NAMES[y]))
    np.testing.assert_array_equal(model.noise_.flipped_mask_, seen["y"] != NAMES[y])
    assert not hasattr(noise, "classes_")
    assert not hasattr(model.classifier, "classes_")


def test_injector_gets_the_samples():
    noise = InstanceDependentNoise(0.3, exact=True, random_state=0)
    model = NoisyTargetClassifier(Recorder(), noise).fit(X, y)
    assert model.noise_.flipped_mask_.sum() == 45


def test_validation_data_and_true_labels_are_passed_without_noise():
    model = NoisyTargetClassifier(Recorder(), PairNoise(1.0))
    X_val, y_val = X[:10], y[:10]
    model.fit(X, y, X_val=X_val, y_val=y_val)
    seen = model.classifier_.fit_arguments_
    assert seen["X_val"] is X_val
    assert seen["y_val"] is y_val
    assert seen["y_true"] is y
    assert not model.safe_mask_.any()


def test_true_labels_of_the_caller_take_precedence():
    model = NoisyTargetClassifier(Recorder(), PairNoise(1.0))
    other = y[::-1].copy()
    seen = model.fit(X, y, y_true=other).classifier_.fit_arguments_
    assert seen["y_true"] is other


def test_true_labels_are_passed_only_to_a_classifier_that_takes_them():
    model = NoisyTargetClassifier(Memorizer(), PairNoise(1.0)).fit(X, y)
    unique_rows = ~pd.DataFrame(X).duplicated(keep=False)
    expected = (y[unique_rows] + 1) % 3
    np.testing.assert_array_equal(model.predict(X[unique_rows]), expected)


def test_scores_are_computed_on_clean_labels_in_cross_validation():
    """Memorized noisy labels are scored against the clean ones."""
    rows = np.arange(120, dtype=float)[:, np.newaxis]
    labels = np.arange(120) % 3
    noise = SymmetricNoise(0.25, exact=True, random_state=0)
    result = cross_validate(
        NoisyTargetClassifier(Memorizer(), noise),
        rows, labels, cv=4, return_train_score=True, return_estimator=True,
        return_indices=True,
    )  # fmt: skip
    # Of 90 labels per fold, round(22.5) are wrong.
    np.testing.assert_allclose(result["train_score"], 1 - 22 / 90)
    for model, train in zip(
        result["estimator"], result["indices"]["train"], strict=True
    ):
        learned = np.array([model.classifier_.answers_[(row,)] for row in train])
        np.testing.assert_array_equal(
            learned != labels[train], model.noise_.flipped_mask_
        )


def test_scorers_get_clean_labels():
    scored = []

    def recording_scorer(model, X_scored, y_scored):
        scored.append(y_scored.tolist())
        return model.score(X_scored, y_scored)

    model = NoisyTargetClassifier(Recorder(), PairNoise(1.0))
    grid = {"noise__rate": [0.5, 1.0], "classifier__q": [0, 1]}
    folds = StratifiedKFold(3)
    GridSearchCV(model, grid, cv=folds, scoring=recording_scorer).fit(X, y)
    assert scored == [y[test].tolist() for _, test in folds.split(X, y)] * 4


@pytest.mark.parametrize("place", ["alone", "in a pipeline", "around a pipeline"])
def test_grid_search_sets_parameters_of_noise_and_classifier(place):
    if place == "around a pipeline":
        steps = Pipeline([("scale", StandardScaler()), ("last", Recorder())])
        model = NoisyTargetClassifier(steps, SymmetricNoise(random_state=0))
        rate, q = "noise__rate", "classifier__last__q"
    else:
        model = NoisyTargetClassifier(Recorder(), SymmetricNoise(random_state=0))
        rate, q = "noise__rate", "classifier__q"
    if place == "in a pipeline":
        model = Pipeline([("scale", StandardScaler()), ("model", model)])
        rate, q = f"model__{rate}", f"model__{q}"
    search = GridSearchCV(
        model, {rate: [0.0, 0.4], q: [0, 1]}, cv=3, error_score="raise"
    ).fit(X, y)
    np.testing.assert_allclose(search.cv_results_["mean_test_score"], 1 / 3)

    best = search.best_estimator_.set_params(**{rate: 0.4}).fit(X, y)
    fitted = best[-1] if place == "in a pipeline" else best
    last = (
        fitted.classifier_[-1] if place == "around a pipeline" else fitted.classifier_
    )
    np.testing.assert_array_equal(last.fit_arguments_["y_true"], y)
    wrong = last.fit_arguments_["y"] != y
    assert 0.25 < wrong.mean() < 0.55
    np.testing.assert_array_equal(fitted.safe_mask_, ~wrong)
    np.testing.assert_array_equal(fitted.classes_, [0, 1, 2])
    assert fitted.n_features_in_ == 4


def test_methods_of_the_classifier_are_available_if_it_has_them():
    noisy = NoisyTargetClassifier(LinearSVC(), SymmetricNoise(random_state=0))
    assert hasattr(noisy, "decision_function")
    assert not hasattr(noisy, "predict_proba")
    assert not hasattr(noisy.fit(X, y), "safe_mask_")
    with pytest.raises(AttributeError, match=r"'safe_mask_'.*LinearSVC, has none"):
        _ = noisy.safe_mask_


def test_error_of_a_missing_method_is_that_of_available_if():
    noisy = NoisyTargetClassifier(LinearSVC())
    match = "'NoisyTargetClassifier' has no attribute 'predict_proba'"
    with pytest.raises(AttributeError, match=match) as error:
        _ = noisy.predict_proba
    assert "'LinearSVC' object has no attribute" in str(error.value.__cause__)


FITTED = [
    "classes_",
    "classifier_",
    "corrected_labels_",
    "feature_names_in_",
    "history_",
    "label_quality_",
    "label_findings_",
    "n_features_in_",
    "noise_",
    "noise_rate_",
    "safe_mask_",
    "some_future_attribute_",
    "transition_matrix_",
    "used_fallback_",
]


@pytest.mark.parametrize("name", FITTED)
def test_there_are_no_fitted_attributes_before_fit(name):
    noisy = NoisyTargetClassifier(LogisticRegression())
    assert not hasattr(noisy, name)
    assert name not in dir(noisy)
    with pytest.raises(AttributeError, match=f"{name!r}: it is not fitted yet"):
        getattr(noisy, name)
    with pytest.raises(NotFittedError):
        check_is_fitted(noisy)


class WithAttributes(Recorder):
    """Has fitted attributes of all names, and others that are not to be read."""

    def fit(self, X, y):
        super().fit(X, y)
        for name in set(FITTED) - {"classifier_", "noise_", "n_features_in_"}:
            if name != "classes_":
                setattr(self, name, f"value of {name}")
        self._private_, self.not_fitted = 1, 2
        return self


def wrapped(kind):
    """A classifier with all attributes, alone or inside other estimators."""
    pipe = Pipeline([("scale", StandardScaler()), ("last", WithAttributes())])
    return {
        "alone": WithAttributes(),
        "pipeline": pipe,
        "search": GridSearchCV(WithAttributes(), {"q": [0, 1]}, cv=2),
        "search of a pipeline": GridSearchCV(pipe, {"last__q": [0, 1]}, cv=2),
        "pipeline of a search": make_pipeline(
            StandardScaler(), GridSearchCV(WithAttributes(), {"q": [0, 1]}, cv=2)
        ),
        "nested": NoisyTargetClassifier(pipe),
    }[kind]


WRAPPED = [
    "alone", "pipeline", "search", "search of a pipeline", "pipeline of a search",
    "nested",
]  # fmt: skip


@pytest.mark.parametrize("kind", WRAPPED)
def test_all_public_fitted_attributes_are_read_from_the_classifier(kind):
    model = NoisyTargetClassifier(wrapped(kind), PairNoise(0.3)).fit(X, y)
    for name in set(FITTED) - {"classifier_", "noise_", "feature_names_in_"}:
        assert name in dir(model)
        if name not in ("classes_", "n_features_in_"):
            assert getattr(model, name) == f"value of {name}"
    assert model.classes_.tolist() == [0, 1, 2]
    assert model.n_features_in_ == 4
    assert model.noise_.transition_matrix_.shape == (3, 3)
    for name in ("_private_", "not_fitted", "steps", "best_estimator", "__len__"):
        assert not hasattr(model, name)
    assert hasattr(model, "best_params_") == ("search" in kind)


@pytest.mark.parametrize("kind", WRAPPED)
@pytest.mark.parametrize(
    "duplicate", [copy.copy, copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))]
)
def test_copies_have_the_same_attributes(kind, duplicate):
    noise = SymmetricNoise(0.3, random_state=0)
    model = NoisyTargetClassifier(wrapped(kind), noise)
    assert not hasattr(duplicate(model), "safe_mask_")
    copied = duplicate(model.fit(X, y))
    check_is_fitted(copied)
    assert copied.transition_matrix_ == "value of transition_matrix_"
    assert copied.used_fallback_ == model.used_fallback_
    np.testing.assert_array_equal(copied.predict(X), model.predict(X))
    assert not hasattr(clone(copied), "transition_matrix_")


def test_features_of_the_last_step_are_not_taken_for_those_of_a_pipeline():
    """The first step has no ``n_features_in_``, and the last sees other features."""
    identity = FunctionTransformer(lambda X: X[:, :2])
    model = NoisyTargetClassifier(make_pipeline(identity, Recorder())).fit(X, y)
    assert model.classifier_[-1].n_features_in_ == 2
    assert getattr(model, "n_features_in_", None) != 2


def test_error_for_a_missing_attribute_names_the_inner_classifier():
    pipe = make_pipeline(StandardScaler(), LinearSVC())
    model = NoisyTargetClassifier(pipe, SymmetricNoise(0.1, random_state=0)).fit(X, y)
    assert model.coef_.shape == (3, 4)
    with pytest.raises(AttributeError, match=r"'history_'.*, LinearSVC, has none"):
        _ = model.history_


def test_predictions_are_those_of_the_classifier():
    noisy = NoisyTargetClassifier(LogisticRegression(max_iter=500), PairNoise(0.1))
    noisy.fit(X, y)
    for method in (
        "predict",
        "predict_proba",
        "predict_log_proba",
        "decision_function",
    ):
        expected = getattr(noisy.classifier_, method)(X)
        np.testing.assert_array_equal(getattr(noisy, method)(X), expected)


def test_without_noise_labels_are_not_changed():
    model = NoisyTargetClassifier(Recorder()).fit(X, y)
    assert model.noise_ is None
    assert model.classifier_.fit_arguments_["y"] is y


def test_series_are_passed_to_the_classifier_as_series():
    series = pd.Series(NAMES[y], index=np.arange(150) + 7)
    model = NoisyTargetClassifier(Recorder(), SymmetricNoise(0.3)).fit(X, series)
    seen = model.classifier_.fit_arguments_["y"]
    assert isinstance(seen, pd.Series)
    assert seen.index.equals(series.index)


def test_feature_names_come_from_the_classifier():
    frame = pd.DataFrame(X, columns=list("abcd"))
    model = NoisyTargetClassifier(LogisticRegression(max_iter=500)).fit(frame, y)
    assert model.feature_names_in_.tolist() == list("abcd")


def test_tags_are_those_of_the_classifier():
    for classifier in (
        LogisticRegression(),
        DecisionTreeClassifier(),
        DummyClassifier(),
    ):
        tags, inner = get_tags(NoisyTargetClassifier(classifier)), get_tags(classifier)
        assert tags.estimator_type == "classifier"
        assert tags.input_tags == inner.input_tags
        assert tags.classifier_tags.poor_score == inner.classifier_tags.poor_score
        assert not tags.classifier_tags.multi_label


def test_metadata_are_routed_to_the_classifier():
    weights = np.ones(len(y))
    with config_context(enable_metadata_routing=True):
        inner = Perceptron().set_fit_request(sample_weight=True)
        model = NoisyTargetClassifier(inner, SymmetricNoise(0.1, random_state=0))
        # scikit-learn 1.6 also wants to know whether the score takes weights.
        model.set_score_request(sample_weight=False)
        result = cross_validate(model, X, y, params={"sample_weight": weights})
        assert result["test_score"].mean() > 0.5

        recorder = Recorder().set_fit_request(X_val=True, y_val=True, y_true=True)
        pipe = make_pipeline(StandardScaler(), recorder)
        model = NoisyTargetClassifier(pipe, PairNoise(1.0))
        model.fit(X, y, X_val=X[:9], y_val=y[:9])
        seen = model.classifier_[-1].fit_arguments_
        np.testing.assert_array_equal(seen["y_val"], y[:9])
        np.testing.assert_array_equal(seen["y_true"], y)
        np.testing.assert_array_equal(seen["y"], (y + 1) % 3)
        np.testing.assert_array_equal(model.predict(X), model.classifier_.predict(X))


def test_validation_data_are_transformed_by_an_outer_pipeline():
    """Validation samples are scaled, and their labels are not changed."""
    with config_context(enable_metadata_routing=True):
        recorder = Recorder().set_fit_request(X_val=True, y_val=True)
        pipe = Pipeline(
            [
                ("scale", StandardScaler()),
                ("model", NoisyTargetClassifier(recorder, PairNoise(1.0))),
            ],
            transform_input=["X_val"],
        )
        pipe.fit(X, y, X_val=X[:9], y_val=y[:9])
    seen = pipe[-1].classifier_.fit_arguments_
    np.testing.assert_allclose(seen["X_val"], pipe[0].transform(X[:9]))
    np.testing.assert_array_equal(seen["y_val"], y[:9])
    np.testing.assert_array_equal(seen["y"], (y + 1) % 3)


def test_metadata_requests_are_set_on_the_classifier_only():
    assert not hasattr(NoisyTargetClassifier, "set_fit_request")


def test_metadata_that_are_not_requested_are_not_passed():
    with config_context(enable_metadata_routing=True):
        model = NoisyTargetClassifier(make_pipeline(StandardScaler(), Recorder()))
        seen = model.fit(X, y).classifier_[-1].fit_arguments_
        assert seen["y_true"] is None


def test_fit_params_are_passed_to_a_pipeline_by_step_name():
    pipe = Pipeline([("scale", StandardScaler()), ("last", Recorder())])
    model = NoisyTargetClassifier(pipe, PairNoise(1.0))
    model.fit(X, y, last__X_val=X[:5], last__y_val=y[:5])
    seen = model.classifier_[-1].fit_arguments_
    np.testing.assert_array_equal(seen["y_val"], y[:5])
    np.testing.assert_array_equal(seen["y_true"], y)
