"""Noise goes into what ``fit`` gets, and nowhere else."""

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import load_iris
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression, Perceptron
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_validate
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import get_tags

from skpresto.noise import (
    InstanceDependentNoise,
    NoisyTargetClassifier,
    PairNoise,
    SymmetricNoise,
)

X, y = load_iris(return_X_y=True)
NAMES = np.array(["setosa", "versicolor", "virginica"])


class Recorder(ClassifierMixin, BaseEstimator):
    """Remember every argument of ``fit``, and tell what was asked about afterwards."""

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


class PassesOn(ClassifierMixin, BaseEstimator):
    """A classifier whose ``fit`` does not know ``y_true``; learns labels by heart."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.answers_ = {tuple(row): label for row, label in zip(X, y, strict=True)}
        return self

    def predict(self, X):
        return np.array([self.answers_.get(tuple(row), -1) for row in X])


def test_fit_gets_what_the_injector_gives():
    noise = SymmetricNoise(0.4, random_state=0)
    model = NoisyTargetClassifier(Recorder(), noise).fit(X, NAMES[y])
    seen = model.classifier_.fit_arguments_
    assert seen["X"] is X
    np.testing.assert_array_equal(seen["y"], clone(noise).fit_transform(NAMES[y]))
    np.testing.assert_array_equal(model.noise_.flipped_mask_, seen["y"] != NAMES[y])
    assert not hasattr(noise, "classes_")
    assert not hasattr(model.classifier, "classes_")


def test_instance_dependent_noise_gets_the_samples():
    noise = InstanceDependentNoise(0.3, exact=True, random_state=0)
    model = NoisyTargetClassifier(Recorder(), noise).fit(X, y)
    assert model.noise_.flipped_mask_.sum() == 45


def test_validation_data_pass_untouched_and_true_labels_are_given():
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


def test_a_classifier_that_does_not_take_true_labels_is_not_given_any():
    model = NoisyTargetClassifier(PassesOn(), PairNoise(1.0)).fit(X, y)
    unique_rows = ~pd.DataFrame(X).duplicated(keep=False)
    expected = (y[unique_rows] + 1) % 3
    np.testing.assert_array_equal(model.predict(X[unique_rows]), expected)


def test_scores_are_computed_on_clean_labels_in_cross_validation():
    """What was learned by heart from noisy labels is compared with the clean ones."""
    rows = np.arange(120, dtype=float)[:, np.newaxis]
    labels = np.arange(120) % 3
    noise = SymmetricNoise(0.25, exact=True, random_state=0)
    result = cross_validate(
        NoisyTargetClassifier(PassesOn(), noise),
        rows, labels, cv=4, return_train_score=True, return_estimator=True,
        return_indices=True,
    )  # fmt: skip
    # 90 labels a fold, round(22.5) of them wrong, as the training score must show
    np.testing.assert_allclose(result["train_score"], 1 - 22 / 90)
    for model, train in zip(
        result["estimator"], result["indices"]["train"], strict=True
    ):
        learned = np.array([model.classifier_.answers_[(row,)] for row in train])
        np.testing.assert_array_equal(
            learned != labels[train], model.noise_.flipped_mask_
        )


def test_scoring_sees_the_labels_as_they_are():
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
def test_grid_search_reaches_noise_and_classifier(place):
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


def test_what_the_classifier_cannot_do_is_not_offered():
    noisy = NoisyTargetClassifier(LinearSVC(), SymmetricNoise(random_state=0))
    assert hasattr(noisy, "decision_function")
    assert not hasattr(noisy, "predict_proba")
    assert not hasattr(noisy.fit(X, y), "safe_mask_")
    with pytest.raises(AttributeError, match=r"'safe_mask_'.*LinearSVC, has none"):
        _ = noisy.safe_mask_


def test_before_fit_there_are_no_fitted_attributes():
    noisy = NoisyTargetClassifier(LogisticRegression())
    for name in ("classes_", "n_features_in_", "feature_names_in_", "safe_mask_"):
        assert not hasattr(noisy, name)
    with pytest.raises(AttributeError, match="not fitted yet"):
        _ = noisy.classes_


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


def test_without_noise_labels_stay_as_they_are():
    model = NoisyTargetClassifier(Recorder()).fit(X, y)
    assert model.noise_ is None
    assert model.classifier_.fit_arguments_["y"] is y


def test_series_reach_the_classifier_as_series():
    series = pd.Series(NAMES[y], index=np.arange(150) + 7)
    model = NoisyTargetClassifier(Recorder(), SymmetricNoise(0.3)).fit(X, series)
    seen = model.classifier_.fit_arguments_["y"]
    assert isinstance(seen, pd.Series)
    assert seen.index.equals(series.index)


def test_feature_names_come_from_the_classifier():
    frame = pd.DataFrame(X, columns=list("abcd"))
    model = NoisyTargetClassifier(LogisticRegression(max_iter=500)).fit(frame, y)
    assert model.feature_names_in_.tolist() == list("abcd")


def test_tags_follow_the_classifier():
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


def test_validation_data_are_transformed_by_a_pipeline_around():
    """Validation samples go through the scaler, and their labels stay clean."""
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


def test_requests_are_made_on_the_classifier_alone():
    assert not hasattr(NoisyTargetClassifier, "set_fit_request")


def test_metadata_not_asked_for_are_not_given():
    with config_context(enable_metadata_routing=True):
        model = NoisyTargetClassifier(make_pipeline(StandardScaler(), Recorder()))
        seen = model.fit(X, y).classifier_[-1].fit_arguments_
        assert seen["y_true"] is None


def test_fit_params_reach_a_pipeline_by_step_name():
    pipe = Pipeline([("scale", StandardScaler()), ("last", Recorder())])
    model = NoisyTargetClassifier(pipe, PairNoise(1.0))
    model.fit(X, y, last__X_val=X[:5], last__y_val=y[:5])
    seen = model.classifier_[-1].fit_arguments_
    np.testing.assert_array_equal(seen["y_val"], y[:5])
    np.testing.assert_array_equal(seen["y_true"], y)


@pytest.mark.parametrize(
    ("classifier", "noise", "match"),
    [
        (
            StandardScaler(),
            None,
            "'classifier' parameter of NoisyTargetClassifier must",
        ),
        (
            LogisticRegression(),
            0.2,
            "'noise' parameter of NoisyTargetClassifier must be",
        ),
    ],
)
def test_wrong_parts_are_refused(classifier, noise, match):
    with pytest.raises(ValueError, match=match):
        NoisyTargetClassifier(classifier, noise).fit(X, y)
