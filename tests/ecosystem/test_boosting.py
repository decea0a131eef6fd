"""Boosted trees of other packages, on noisy labels."""

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.model_selection import GridSearchCV

from skpresto import LabelCleaningClassifier
from skpresto.audit import LabelReport
from skpresto.noise import PairNoise

TREES = ExtraTreesClassifier(
    30, min_samples_leaf=3, bootstrap=True, oob_score=True, random_state=0
)


def lightgbm():
    module = pytest.importorskip("lightgbm")
    return module.LGBMClassifier(n_estimators=20, n_jobs=1, verbose=-1)


def xgboost():
    module = pytest.importorskip("xgboost")
    return module.XGBClassifier(n_estimators=20, n_jobs=1)


def catboost(tmp_path):
    module = pytest.importorskip("catboost")
    return module.CatBoostClassifier(
        iterations=30, verbose=0, thread_count=1, train_dir=str(tmp_path)
    )


@pytest.fixture(params=[lightgbm, xgboost, catboost])
def boosted(request, tmp_path):
    made = request.param
    return made(tmp_path) if made is catboost else made()


@pytest.fixture(scope="module")
def data():
    """Numbers as labels, which are all that XGBoost takes; three in ten are wrong."""
    X, y = make_classification(
        500,
        n_features=6,
        n_informative=6,
        n_redundant=0,
        n_classes=3,
        n_clusters_per_class=1,
        class_sep=1.5,
        flip_y=0,
        random_state=0,
    )
    return X, y, PairNoise(0.3, random_state=0).fit_transform(y)


def test_boosted_trees_are_cleaned(boosted, data):
    X, y, given = data
    cleaned = LabelCleaningClassifier(boosted, assessor=TREES, random_state=0)
    cleaned.fit(X, given)
    assert cleaned.score(X, y) > 0.85
    assert cleaned.predict(X).shape == y.shape
    np.testing.assert_allclose(cleaned.predict_proba(X).sum(axis=1), 1, rtol=1e-5)
    report = LabelReport.from_estimator(cleaned, X, given)
    assert np.mean((given != y)[report.suspects(50).index]) > 0.9


def test_they_assess_labels_themselves(boosted, data):
    X, y, given = data
    report = LabelReport.from_classifier(boosted, X, given, cv=2, random_state=0)
    assert np.mean((given != y)[report.suspects(50).index]) > 0.9


def test_a_class_that_has_no_weight(boosted, data):
    X, _, given = data
    cleaned = LabelCleaningClassifier(
        boosted, assessor=TREES, guard=False, random_state=0
    )
    cleaned.fit(X, given, sample_weight=(given != 1).astype(float))
    assert (cleaned.predict_proba(X)[:, 1] == 0).all()
    assert set(cleaned.predict(X)) == {0, 2}


def test_a_search_over_parameters_of_lightgbm(data):
    X, y, given = data
    cleaned = LabelCleaningClassifier(
        lightgbm(), assessor=TREES, guard=False, random_state=0
    )
    search = GridSearchCV(cleaned, {"estimator__max_depth": [1, 4]}, cv=2)
    assert search.fit(X, given).best_estimator_.score(X, y) > 0.85


def test_categorical_columns_and_missing_values_of_lightgbm(data):
    pandas = pytest.importorskip("pandas")
    X, y, given = data
    frame = pandas.DataFrame(X).add_prefix("x")
    frame["side"] = pandas.Categorical(np.where(X[:, 0] > 0, "left", "right"))
    frame.loc[::5, "x1"] = np.nan
    cleaned = LabelCleaningClassifier(lightgbm(), guard=False, random_state=0)
    assert cleaned.fit(frame, given).score(frame, y) > 0.85


def test_skops_stores_what_is_fitted(data, tmp_path):
    skops = pytest.importorskip("skops.io")
    X, _, given = data
    cleaned = LabelCleaningClassifier(TREES, assessor=TREES, guard=False)
    cleaned.fit(X, given)
    skops.dump(cleaned, tmp_path / "model.skops")
    trusted = skops.get_untrusted_types(file=tmp_path / "model.skops")
    assert all(name.startswith(("skpresto.", "sklearn.")) for name in trusted)
    restored = skops.load(tmp_path / "model.skops", trusted=trusted)
    assert np.array_equal(restored.predict_proba(X), cleaned.predict_proba(X))
