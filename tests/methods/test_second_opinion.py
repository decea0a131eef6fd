"""CrossPrestopping with an assessor, or with probabilities of the given labels."""

import warnings

import numpy as np
import pandas as pd
import pytest
import torch
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, PredefinedSplit, cross_val_predict
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from torch.utils.data import TensorDataset

import skpresto
from skpresto import CrossPrestoppingClassifier
from skpresto._data.samples import ArrayRows, TensorRows
from skpresto._methods._second_opinion import trees_for
from skpresto.exceptions import SafeSetWarning
from tests.discovery import quick, short_fits_warn
from tests.resume.kills import Killed, everything, fit_with_kills, kill_after

pytestmark = short_fits_warn


def with_assessor(assessor, **params):
    return quick(CrossPrestoppingClassifier, assessor=assessor, **params)


def same(first, second, X):
    return np.array_equal(first.predict_proba(X), second.predict_proba(X))


@pytest.fixture
def neighbours(noisy_blobs):
    """Probabilities of the given labels by a classifier not trained on the row."""
    X, y, _ = noisy_blobs
    knn = KNeighborsClassifier(15)
    return cross_val_predict(knn, X, y, cv=5, method="predict_proba")


def test_trees_are_the_assessor_of_tables(noisy_blobs):
    X, y, _ = noisy_blobs
    clf = with_assessor("auto").fit(X, y)
    assert CrossPrestoppingClassifier().assessor is None
    assert isinstance(clf.assessor_, ExtraTreesClassifier)
    assert same(with_assessor("auto").fit(X, y), clf, X)
    alone = with_assessor(None).fit(X, y)
    assert alone.assessor_ is None
    assert not same(alone, clf, X)
    assert same(with_assessor("auto").fit(sparse.csr_matrix(X), y), clf, X)


@pytest.mark.parametrize(
    "assessor",
    [
        KNeighborsClassifier(15),
        make_pipeline(StandardScaler(), LogisticRegression()),
        ExtraTreesClassifier(10, bootstrap=True, oob_score=True),
    ],
    ids=["out of fold", "Pipeline", "out of bag"],
)
def test_any_classifier_of_scikit_learn_is_an_assessor(noisy_blobs, assessor):
    X, y, y_true = noisy_blobs
    params = assessor.get_params()
    names = np.array(["d", "a", "c", "b"])
    fits = [with_assessor(assessor, max_epochs=25).fit(X, names[y]) for _ in "ab"]
    assert same(*fits, X)
    assert fits[0].assessor_ is assessor
    assert str(assessor.get_params()) == str(params)
    assert not hasattr(assessor, "classes_")
    wrong = fits[0].label_quality_[y != y_true].mean()
    assert wrong < fits[0].label_quality_[y == y_true].mean() - 0.5
    assert (fits[0].suggested_labels_ == names[y_true]).mean() > 0.85


def test_probabilities_may_come_from_anywhere(noisy_blobs, neighbours):
    X, y, _ = noisy_blobs
    clf = with_assessor("auto")
    given = clf.fit(X, y, pred_proba=neighbours).predict_proba(X)
    assert clf.assessor_ is None
    named = pd.DataFrame(neighbours, columns=[0, 1, 2, 3])[[2, 0, 3, 1]]
    assert np.array_equal(clf.fit(X, y, pred_proba=named).predict_proba(X), given)
    alone = with_assessor(None).fit(X, y)
    assert not np.array_equal(alone.predict_proba(X), given)


def test_probabilities_for_samples_that_no_tree_can_be_trained_on(
    noisy_blobs, neighbours
):
    X, y, _ = noisy_blobs
    dataset = TensorDataset(torch.from_numpy(X), torch.from_numpy(y))
    clf = with_assessor("auto").fit(dataset, pred_proba=neighbours)
    by_array = with_assessor("auto").fit(X, y, pred_proba=neighbours)
    assert same(clf, by_array, X)
    assert with_assessor("auto").fit(dataset).assessor_ is None


class TwoInputs(torch.nn.Sequential):
    def __init__(self):
        super().__init__(
            torch.nn.Linear(2, 16), torch.nn.ReLU(), torch.nn.Linear(16, 4)
        )

    def forward(self, left, right):
        return super().forward(torch.cat((left, right), dim=1))


def test_other_samples_need_probabilities(noisy_blobs):
    X, y, _ = noisy_blobs
    parts = {"left": X[:, :1], "right": X[:, 1:]}
    params = {"module": TwoInputs, "cv": 2, "max_epochs": 8, "random_state": 0}
    assert CrossPrestoppingClassifier(**params).fit(parts, y).assessor_ is None
    clf = CrossPrestoppingClassifier(assessor=KNeighborsClassifier(), **params)
    with pytest.raises(ValueError, match="one array for its assessor.*several arrays"):
        clf.fit(parts, y)
    dataset = TensorDataset(torch.from_numpy(X), torch.from_numpy(y))
    with pytest.raises(ValueError, match="got a Dataset.*pass fit.*pred_proba="):
        with_assessor(KNeighborsClassifier()).fit(dataset)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda p: p[1:], r"of shape \(400, 4\), but got \(399, 4\)"),
        (lambda p: p[:, :3], r"column per class of y, of shape \(400, 4\)"),
        (lambda p: p * np.nan, "contains NaN"),
        (lambda p: p * 2, "sum to 1, but row 0"),
        (lambda p: p - 0.5, "sum to 1, but row 0"),
        (lambda p: pd.DataFrame(p, columns=list("abcd")), "the columns are 'a', 'b'"),
        (lambda p: "probabilities", "array of numbers"),
    ],
)
def test_other_values_than_probabilities_are_refused(
    noisy_blobs, neighbours, change, message
):
    X, y, _ = noisy_blobs
    clf = with_assessor("auto")
    with pytest.raises(ValueError, match=f"^CrossPrestoppingClassifier.*{message}"):
        clf.fit(X, y, pred_proba=change(neighbours))


def test_an_assessor_without_probabilities_is_refused(noisy_blobs):
    with pytest.raises(TypeError, match="assessor with predict_proba.*LinearSVC"):
        with_assessor(LinearSVC()).fit(*noisy_blobs[:2])


class Memory(ClassifierMixin, BaseEstimator):
    """Remembers the rows that it was trained on, and knows nothing."""

    trained: list = []

    def fit(self, X, y, sample_weight=None):
        self.classes_ = np.unique(y)
        self.trained.append(X)
        return self

    def predict_proba(self, X):
        seen = {tuple(row) for row in self.trained[-1]}
        assert not any(tuple(row) in seen for row in X)
        return np.full((len(X), len(self.classes_)), 1 / len(self.classes_))


def test_two_classes_without_a_second_opinion_are_warned_of(noisy_blobs):
    X, _, y_true = noisy_blobs
    two = y_true < 2
    X, labels = (
        X[two],
        np.where(np.arange(two.sum()) % 3 > 0, y_true[two], 1 - y_true[two]),
    )
    clf = with_assessor(None)
    message = r"^CrossPrestoppingClassifier: 3\d% of the labels of two classes"
    with pytest.warns(SafeSetWarning, match=message):
        clf.fit(X, labels)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with_assessor("auto").fit(X, labels)
        clf.fit(X, y_true[two])  # nearly all are predicted


def test_no_assessor_is_trained_on_what_it_assesses(noisy_blobs, monkeypatch):
    X, y, _ = noisy_blobs
    X = X + np.arange(len(X), dtype=np.float32)[:, None]  # no two rows are the same
    monkeypatch.setattr(Memory, "trained", [])
    with_assessor(Memory(), cv=3).fit(X, y)
    assert [len(part) for part in Memory.trained] == [266, 267, 267]
    groups = np.arange(len(X)) // 4 % 7
    folds = np.empty(len(X), dtype=int)
    for k, (_, test) in enumerate(GroupKFold(2).split(X, y, groups)):
        folds[test] = k
    Memory.trained.clear()
    with_assessor(Memory(), cv=PredefinedSplit(folds)).fit(X, y)
    for k, part in enumerate(Memory.trained):
        assert np.array_equal(part, X[folds != k])


def test_rows_of_weight_zero_do_not_influence_the_assessor(noisy_blobs):
    X, y, _ = noisy_blobs
    weights = np.ones(len(X))
    weights[::4] = 0
    clf = with_assessor("auto").fit(X, y, weights)
    shifted = np.where(weights > 0, y, (y + 1) % 4)
    assert same(with_assessor("auto").fit(X, shifted, weights), clf, X)


def test_a_killed_fit_gets_the_same_opinion_again(noisy_blobs, tmp_path, monkeypatch):
    small = [part[:120] for part in noisy_blobs[:2]]
    clf = with_assessor("auto", max_epochs=7)
    expected = everything(clone(clf).fit(*small), small[0])
    n_kills = fit_with_kills(monkeypatch, clf, *small, tmp_path / "fit", 4)
    assert n_kills >= 2
    assert everything(clf, small[0]) == expected


def test_a_fit_with_other_probabilities_is_not_resumed(
    noisy_blobs, neighbours, tmp_path, monkeypatch
):
    X, y, _ = noisy_blobs
    clf = with_assessor(None)
    kill_after(monkeypatch, 4)
    with pytest.raises(Killed), skpresto.resumable(tmp_path / "fit", every=0):
        clf.fit(X, y, pred_proba=neighbours)
    with (
        pytest.raises(ValueError, match="another fit of Cross.*pred_proba changed"),
        skpresto.resumable(tmp_path / "fit", every=0),
    ):
        clf.fit(X, y, pred_proba=neighbours[:, ::-1])


def test_the_number_of_trees_and_rows_is_bounded():
    def forest(n_rows, n_features, n_classes):
        return trees_for(TensorRows(torch.zeros(n_rows, n_features)), n_classes)

    assert forest(500, 16, 26).n_estimators == 100
    assert forest(500, 16, 26).max_samples is None
    assert 30 <= forest(500, 256, 10).n_estimators < 50
    assert forest(500, 4000, 2).n_estimators == 30
    many = forest(100_000, 2, 10)
    assert many.max_samples * 10 * many.n_estimators <= 2**25
    assert forest(100_000, 2, 1000) is None
    assert trees_for(TensorRows(torch.zeros(50, 1, 8, 8)), 2) is None
    mapped = ArrayRows(np.zeros((50, 2), dtype=np.float32))
    assert trees_for(mapped, 2) is None
