"""The probabilities of a row do not depend on the rows predicted with it."""

import warnings
from functools import cache

import numpy as np
import pytest
import torch
from torch.utils.data import Dataset

from skpresto import DefaultClassifier
from tests.discovery import FEWER_RUNS, METHODS, StopAfter, on_paths

N_ROWS = {"tables": 270, "images": 70}  # more than one block of either
PARAMS = {"max_epochs": 4, "batch_size": 32, "q": 2, "random_state": 0}
SHAPES = {"tables": (13,), "images": (2, 9, 9)}
MODULES = {
    "tables": {"module__hidden": (48, 32)},
    "images": {"module__widths": (8, 12)},
}

both_kinds = pytest.mark.parametrize("kind", SHAPES)
threads = pytest.mark.parametrize("n_jobs", [1, 2])


def samples(kind):
    rng = np.random.RandomState(0)
    X = rng.normal(size=(N_ROWS[kind], *SHAPES[kind])).astype(np.float32)
    y = (X.reshape(len(X), -1)[:, :3]).argmax(axis=1)
    return X, y


@cache
def fitted(Classifier, kind):
    """Return a classifier, samples, and the probabilities of all of them at once."""
    X, y = samples(kind)
    further = dict(FEWER_RUNS.get(Classifier.__name__, {}))
    further.pop("q", None)
    clf = Classifier(**PARAMS, **MODULES[kind], **further)
    if "stop" in clf.get_params():
        clf.set_params(stop=StopAfter(2))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        clf.fit(X, y)
    expected = clf.predict_proba(X)
    assert len(np.unique(expected, axis=0)) > 0.9 * len(X)
    return clf, X, expected


def with_jobs(clf, n_jobs):
    """Return the fitted classifier with another number of threads."""
    return clf.set_params(n_jobs=n_jobs)


def assert_same_bits(first, second):
    assert first.dtype == second.dtype == np.float32
    assert np.array_equal(first.view(np.int32), second.view(np.int32))


@on_paths("one stage", "two networks", "folds", among=METHODS)
@both_kinds
@threads
def test_in_another_order(Classifier, kind, n_jobs):
    clf, X, expected = fitted(Classifier, kind)
    order = np.random.RandomState(1).permutation(len(X))
    assert_same_bits(with_jobs(clf, n_jobs).predict_proba(X[order]), expected[order])


@on_paths("one stage", "two networks", "folds", among=METHODS)
@both_kinds
@threads
def test_one_row_at_a_time(Classifier, kind, n_jobs):
    clf, X, expected = fitted(Classifier, kind)
    with_jobs(clf, n_jobs)
    rows = [0, 7, 16, 45, len(X) - 1]
    one_by_one = [clf.predict_proba(X[row : row + 1]) for row in rows]
    assert_same_bits(np.concatenate(one_by_one), expected[rows])


@on_paths("one stage", "two networks", "folds", among=METHODS)
@both_kinds
@pytest.mark.parametrize("batch_size", [1, 7, 64, 10_000])
def test_in_batches_of_any_size(Classifier, kind, batch_size, monkeypatch):
    clf, X, expected = fitted(Classifier, kind)
    with_jobs(clf, None)
    monkeypatch.setitem(vars(clf.net_), "iterator_valid__batch_size", batch_size)
    assert_same_bits(clf.predict_proba(X), expected)


@on_paths("one stage", "two networks", "folds", among=METHODS)
@both_kinds
def test_in_slices(Classifier, kind):
    clf, X, expected = fitted(Classifier, kind)
    with_jobs(clf, None)
    for part in (slice(3), slice(1, 18), slice(30, -5), slice(None, None, 3)):
        assert_same_bits(clf.predict_proba(X[part]), expected[part])


@on_paths("one stage", "two networks", "folds", among=METHODS)
@both_kinds
def test_from_a_memory_map(Classifier, kind, tmp_path):
    clf, X, expected = fitted(Classifier, kind)
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    assert_same_bits(with_jobs(clf, None).predict_proba(mapped), expected)


class Items(Dataset):
    def __init__(self, X):
        self.X = X

    def __len__(self):
        return len(self.X)

    def __getitem__(self, row):
        return torch.from_numpy(self.X[row])


@on_paths("one stage", "two networks", "folds", among=METHODS)
@both_kinds
def test_from_a_dataset(Classifier, kind):
    clf, X, expected = fitted(Classifier, kind)
    assert_same_bits(with_jobs(clf, None).predict_proba(Items(X)), expected)


@on_paths("one stage", "two networks", "folds", among=METHODS)
def test_a_batch_size_given_by_the_user_changes_no_bit_of_the_fit(Classifier):
    clf, X, expected = fitted(Classifier, "tables")
    params = {**clf.get_params(), "iterator_valid__batch_size": 11}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        other = Classifier(**{k: v for k, v in params.items() if "stop__" not in k})
        other.fit(X, samples("tables")[1])
    assert_same_bits(other.predict_proba(X), expected)


@pytest.mark.parametrize("hidden", [(30,), (50, 30), (7,), (64, 5), ()], ids=str)
@threads
def test_with_layers_of_any_width(hidden, n_jobs):
    """Some matrix products depend in their last bits on where a row lies in memory."""
    X, y = samples("tables")
    clf = DefaultClassifier(**PARAMS, module__hidden=hidden, lr=0.01).fit(X, y)
    with_jobs(clf, n_jobs)
    expected = clf.predict_proba(X)
    order = np.random.RandomState(1).permutation(len(X))
    assert_same_bits(clf.predict_proba(X[order]), expected[order])
    assert_same_bits(clf.predict_proba(X[1:]), expected[1:])
