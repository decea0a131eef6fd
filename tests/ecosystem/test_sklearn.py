"""scikit-learn's own meta-estimators and tools."""

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    StackingClassifier,
    VotingClassifier,
)
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.feature_selection import SequentialFeatureSelector
from sklearn.frozen import FrozenEstimator
from sklearn.inspection import permutation_importance
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    GridSearchCV,
    HalvingGridSearchCV,
    RandomizedSearchCV,
    TunedThresholdClassifierCV,
    learning_curve,
    validation_curve,
)
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.multioutput import MultiOutputClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.semi_supervised import SelfTrainingClassifier

META = {
    "Pipeline": lambda clf: make_pipeline(StandardScaler(), clf),
    "ColumnTransformer": lambda clf: make_pipeline(
        make_column_transformer((StandardScaler(), [0]), remainder="passthrough"), clf
    ),
    "GridSearchCV": lambda clf: GridSearchCV(clf, {"module__hidden": [(4,)]}, cv=2),
    "RandomizedSearchCV": lambda clf: RandomizedSearchCV(
        clf, {"lr": [0.05, 0.1]}, n_iter=2, cv=2, random_state=0
    ),
    "HalvingGridSearchCV": lambda clf: HalvingGridSearchCV(
        clf, {"lr": [0.05, 0.1]}, cv=2, min_resources=60, random_state=0
    ),
    "search over epochs": lambda clf: HalvingGridSearchCV(
        clf, {"lr": [0.05, 0.1]}, cv=2, resource="max_epochs", max_resources=6
    ),
    "CalibratedClassifierCV": lambda clf: CalibratedClassifierCV(clf, cv=2),
    "VotingClassifier": lambda clf: VotingClassifier(
        [("net", clf), ("linear", LogisticRegression())], voting="soft"
    ),
    "StackingClassifier": lambda clf: StackingClassifier(
        [("net", clf), ("linear", LogisticRegression())], cv=2
    ),
    "BaggingClassifier": lambda clf: BaggingClassifier(
        clf, n_estimators=2, random_state=0
    ),
    "AdaBoostClassifier": lambda clf: AdaBoostClassifier(
        clf, n_estimators=2, random_state=0
    ),
    "OneVsRestClassifier": OneVsRestClassifier,
    "OneVsOneClassifier": OneVsOneClassifier,
}


# Boosting gives nearly all weight to a few samples, and classes lose their labels.
@pytest.mark.filterwarnings("ignore::skpresto.exceptions.SafeSetWarning")
@pytest.mark.parametrize("name", META)
def test_a_meta_estimator_fits_and_predicts(name, clf, data):
    X, y = data
    model = META[name](clf).fit(X, y)
    assert model.score(X, y) > 0.6
    assert set(model.predict(X)) <= set("abc")


def test_a_frozen_classifier_is_calibrated_without_another_fit(clf, data):
    X, y = data
    clf.fit(X, y)
    frozen = FrozenEstimator(clf)
    calibrated = CalibratedClassifierCV(frozen).fit(X, y)
    (inner,) = calibrated.calibrated_classifiers_
    assert inner.estimator.estimator is clf
    assert np.array_equal(frozen.predict(X), clf.predict(X))


def test_the_threshold_of_two_classes_is_tuned(clf, data):
    X, y = data
    is_a = y == "a"
    tuned = TunedThresholdClassifierCV(clf, cv=2).fit(X, is_a)
    assert 0 <= tuned.best_threshold_ <= 1
    assert tuned.score(X, is_a) > 0.7


def test_self_training_labels_the_unlabeled(clf, data):
    X, y = data
    numbers = np.unique(y, return_inverse=True)[1]
    numbers[::2] = -1
    model = SelfTrainingClassifier(clf, max_iter=2).fit(X, numbers)
    assert (model.transduction_[::2] >= 0).any()


def test_several_targets(clf, data):
    X, y = data
    both = np.column_stack([y, y == "a"])
    model = MultiOutputClassifier(clf).fit(X, both)
    assert model.predict(X).shape == (len(X), 2)


def test_curves(clf, data):
    X, y = data
    sizes, *_ = learning_curve(clf, X, y, cv=2, train_sizes=[60, 120])
    assert list(sizes) == [60, 120]
    train, _ = validation_curve(
        clf, X, y, cv=2, param_name="lr", param_range=[0.05, 0.1]
    )
    assert train.shape == (2, 2)


def test_importances_and_selection_of_features(clf, data):
    X, y = data
    with_noise = np.column_stack([X, np.zeros(len(X), dtype=np.float32)])
    clf.fit(with_noise, y)
    found = permutation_importance(clf, with_noise, y, n_repeats=2, random_state=0)
    assert found.importances_mean[2] == 0
    assert found.importances_mean[:2].max() > 0
    chosen = SequentialFeatureSelector(clf, n_features_to_select=1, cv=2).fit(X, y)
    assert chosen.get_support().sum() == 1
