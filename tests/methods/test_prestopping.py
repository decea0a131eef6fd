import numpy as np
import pytest
import sklearn
import torch
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from skpresto import DefaultClassifier, PrestoppingClassifier
from skpresto._data.batch import Batch
from skpresto._label_quality.history import PredictionHistory
from skpresto._methods._two_phases import LearnFromSafeSet
from skpresto.exceptions import SafeSetWarning
from skpresto.stopping import (
    AgreementStop,
    HoldoutStop,
    LabelWaveStop,
    MemorizedFractionStop,
    NoiseRateStop,
    OracleStop,
    ValidationStop,
)
from tests.discovery import StopAfter, quick, short_fits_warn
from tests.naive import NaivePredictionHistory

RULES = [
    AgreementStop(),
    HoldoutStop(patience=3),
    LabelWaveStop(window=2),
    MemorizedFractionStop(0.3),
    NoiseRateStop(0.3),
    OracleStop(),
    ValidationStop(patience=3),
]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: type(rule).__name__)
@short_fits_warn
def test_safe_set_is_cleaner_than_the_data_under_every_rule(noisy_blobs, blobs, rule):
    X, y, y_true = noisy_blobs
    clf = PrestoppingClassifier(
        stop=rule, max_epochs=30, batch_size=32, module__hidden=(64, 64), random_state=0
    )
    clf.fit(X, y, X_val=X[:50], y_val=y_true[:50], y_true=y_true)
    is_wrong = y != y_true
    assert is_wrong[clf.safe_mask_].mean() < 0.5 * is_wrong.mean()
    assert clf.score(X, y_true) > 0.85
    assert clf.stop_rule_ is not rule
    assert 1 <= clf.stop_epoch_ <= 30
    assert abs(clf.noise_rate_ - 0.3) < 0.1


def test_beats_plain_training_on_noisy_labels():
    X, y = load_digits(return_X_y=True)
    X = (X / 16).astype(np.float32)
    is_wrong = np.random.RandomState(0).uniform(size=len(y)) < 0.4
    y_noisy = np.where(is_wrong, (y + 1) % 10, y)
    recipe = {"max_epochs": 40, "random_state": 0}
    default = DefaultClassifier(**recipe).fit(X[:1200], y_noisy[:1200])
    ours = PrestoppingClassifier(**recipe).fit(X[:1200], y_noisy[:1200])
    gain = ours.score(X[1200:], y[1200:]) - default.score(X[1200:], y[1200:])
    assert gain > 0.05


def test_stages_are_written_into_the_history(noisy_blobs):
    X, y, _ = noisy_blobs
    clf = quick(PrestoppingClassifier, stop=StopAfter(4), max_epochs=9).fit(X, y)
    assert clf.stop_epoch_ == 4
    assert [r.stage for r in clf.history_] == ["phase 1"] * 4 + ["phase 2"] * 5
    assert [r.epoch for r in clf.history_] == list(range(1, 10))
    assert clf.n_epochs_ == 9
    assert all(r.selected_fraction == 1.0 for r in clf.history_[:4])
    assert all(r.selected_fraction < 1.0 for r in clf.history_[4:])


def test_default_rule_depends_on_what_fit_is_given(noisy_blobs):
    X, y, y_true = noisy_blobs
    clf = quick(PrestoppingClassifier, max_epochs=40)
    assert isinstance(clf.fit(X, y).stop_rule_, AgreementStop)
    clf.fit(X[50:], y[50:], X_val=X[:50], y_val=y_true[:50])
    assert isinstance(clf.stop_rule_, ValidationStop)
    assert clf.stop is None


def test_unsettled_rule_warns_and_names_the_way_out(noisy_blobs):
    X, y, _ = noisy_blobs
    clf = quick(PrestoppingClassifier, stop=StopAfter(50), max_epochs=3)
    with pytest.warns(
        ConvergenceWarning, match=r"max_epochs=3 ended before.*Raise max"
    ):
        clf.fit(X, y)
    assert clf.stop_epoch_ == 3
    assert clf.safe_mask_.any()


def test_held_out_rows_come_back_in_phase_two(noisy_blobs):
    X, y, _ = noisy_blobs
    clf = quick(PrestoppingClassifier, stop=HoldoutStop(fraction=0.5, patience=1))
    clf.fit(X, y)
    batches = clf.net_.history[-1]["batches"]
    assert len(batches) == 7  # 400 rows in batches of 64, not 200
    assert clf.history_[0].n_holdout == 200
    assert clf.history_[-1].n_holdout is None


def test_held_out_rows_get_a_vote_even_without_phase_two(noisy_blobs):
    X, y, _ = noisy_blobs
    clf = quick(PrestoppingClassifier, stop=HoldoutStop(fraction=0.5), max_epochs=2)
    with pytest.warns(ConvergenceWarning):
        clf.fit(X, y)
    assert set(clf.suggested_labels_) <= set(clf.classes_)
    assert 0.2 < clf.safe_mask_.mean() < 1


@short_fits_warn
def test_grid_search_over_rules_and_their_settings(noisy_blobs):
    X, y, _ = noisy_blobs
    pipe = make_pipeline(
        StandardScaler(), quick(PrestoppingClassifier, max_epochs=6, batch_size=32)
    )
    name = "prestoppingclassifier"
    grid = [
        {
            f"{name}__stop": [StopAfter(2), NoiseRateStop(0.5)],
            f"{name}__lr": [0.1, 0.05],
        },
        {f"{name}__stop": [StopAfter(2)], f"{name}__stop__n_epochs": [1, 3]},
        {f"{name}__module__hidden": [(4,)], f"{name}__stop": [StopAfter(1)]},
    ]
    search = GridSearchCV(pipe, grid, cv=2, error_score="raise").fit(X, y)
    assert len(search.cv_results_["params"]) == 7
    assert search.best_estimator_[-1].safe_mask_.shape == (400,)


def test_validation_data_pass_through_a_pipeline_transformed(noisy_blobs):
    X, y, y_true = noisy_blobs
    X = X * 1000 + 5000  # useless unless scaled
    seen = []

    class Spy(PrestoppingClassifier):
        def fit(self, X, y, *, X_val=None, y_val=None, y_true=None):
            seen.append(X_val)
            return super().fit(X, y, X_val=X_val, y_val=y_val, y_true=y_true)

    with sklearn.config_context(enable_metadata_routing=True):
        clf = Spy(max_epochs=60, batch_size=32, random_state=0)
        clf.set_fit_request(X_val=True, y_val=True)
        pipe = Pipeline(
            [("scale", StandardScaler()), ("clf", clf)], transform_input=["X_val"]
        )
        pipe.fit(X[100:], y[100:], X_val=X[:100], y_val=y_true[:100])
    assert np.abs(seen[0]).max() < 10
    assert isinstance(pipe[-1].stop_rule_, ValidationStop)
    assert pipe[-1].history_[-1].valid_error < 0.2


def test_a_class_lost_from_the_safe_set_is_named():
    rng = np.random.RandomState(0)
    X = rng.normal(size=(200, 2)).astype(np.float32)
    y = np.array(["common"] * 198 + ["rare"] * 2)
    clf = quick(PrestoppingClassifier, stop=StopAfter(3))
    with pytest.warns(SafeSetWarning, match=r"few labels of class 'rare' \(0 of 2\)"):
        clf.fit(X, y)


@given(
    n_samples=st.integers(1, 6),
    length=st.integers(1, 4),
    visits=st.lists(
        st.tuples(
            st.lists(st.integers(0, 5), min_size=1, max_size=6, unique=True),
            st.lists(st.integers(0, 2), min_size=6, max_size=6),
        ),
        min_size=1,
        max_size=10,
    ),
    labels=st.lists(st.integers(0, 2), min_size=6, max_size=6),
)
def test_safe_set_policy_equals_its_naive_twin(n_samples, length, visits, labels):
    history, naive = PredictionHistory(6, 3, length), NaivePredictionHistory(6, length)
    policy, labels = LearnFromSafeSet(history), torch.tensor(labels)
    for rows, predicted in visits:
        index = torch.tensor(rows)
        history.add(index, torch.tensor(predicted[: len(rows)]))
        naive.record(rows, predicted[: len(rows)])
        losses = torch.rand(1, len(rows))
        batch = Batch(index, labels[index], torch.rand(1, len(rows), 3), losses, 0)
        selection = policy.select(batch)
        expected = [[float(naive.vote(i) == labels[i]) for i in rows]]
        assert selection.weights.tolist() == expected
        assert selection.targets is None


def test_safe_is_what_is_predicted_most_often(noisy_blobs):
    X, y, _ = noisy_blobs
    clf = quick(PrestoppingClassifier, stop=StopAfter(4)).fit(X, y)
    assert np.array_equal(clf.safe_mask_, clf.suggested_labels_ == y)
