"""Sparse matrices in place of arrays."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.model_selection import GridSearchCV, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.utils import get_tags
from skorch.callbacks import EpochScoring

from skpresto import (
    CrossPrestoppingClassifier,
    DefaultClassifier,
    PrestoppingClassifier,
)
from skpresto.noise import NoisyTargetClassifier, SymmetricNoise
from skpresto.stopping import HoldoutStop, ValidationStop
from tests.discovery import on_paths, quick, short_fits_warn

pytestmark = short_fits_warn
FORMATS = ["csr", "csc", "coo", "lil", "dok", "bsr", "dia"]
KINDS = [
    getattr(sparse, f"{f}_{kind}") for f in FORMATS for kind in ("matrix", "array")
]


def counts(n_rows=90, n_columns=30, seed=0):
    """Return a dense array of word counts, and labels that depend on it."""
    rng = np.random.RandomState(seed)
    y = rng.randint(0, 3, n_rows)
    rates = np.full((3, n_columns), 0.05)
    rates[np.arange(n_columns) % 3, np.arange(n_columns)] = 0.5
    return rng.poisson(rates[y]).astype(np.float64), y


def assert_same_fit(first, second, X_first, X_second):
    one, other = first.predict_proba(X_first), second.predict_proba(X_second)
    assert np.array_equal(one.view(np.int32), other.view(np.int32))
    for name in ("safe_mask_", "label_quality_", "suggested_labels_"):
        np.testing.assert_array_equal(getattr(first, name), getattr(second, name))
    assert [r.holdout_error for r in first.history_] == [
        r.holdout_error for r in second.history_
    ]
    assert first.input_shape_ == second.input_shape_
    assert first.n_features_in_ == second.n_features_in_


@on_paths()
def test_a_sparse_matrix_is_trained_on_as_its_array_is(Classifier):
    X, y = counts()
    as_sparse = sparse.csc_matrix(X)
    fits = quick(Classifier).fit(X, y), quick(Classifier).fit(as_sparse, y)
    assert_same_fit(*fits, X, as_sparse)
    assert_same_fit(*fits, as_sparse, X)
    np.testing.assert_array_equal(fits[0].predict(X), fits[1].predict(as_sparse))


@settings(max_examples=25)
@given(
    kind=st.sampled_from(KINDS),
    dtype=st.sampled_from([np.float32, np.float64, np.int32, np.int64]),
    seed=st.integers(0, 5),
)
def test_every_format_gives_the_bits_of_the_array(kind, dtype, seed):
    X, y = counts(40, 12, seed)
    X = X.astype(dtype)
    as_sparse = kind(X)
    settings = {"stop": HoldoutStop(patience=1), "max_epochs": 3, "batch_size": 16}
    fits = [
        quick(PrestoppingClassifier, **settings).fit(data, y) for data in (X, as_sparse)
    ]
    assert_same_fit(*fits, X, as_sparse)
    assert (as_sparse.toarray() == X).all()  # not changed


def test_indices_of_64_bits_are_read_too():
    X, y = counts()
    large = sparse.csr_array(X)
    large.indices, large.indptr = map(np.int64, (large.indices, large.indptr))
    fits = [quick(DefaultClassifier).fit(data, y) for data in (X, large)]
    assert_same_fit(*fits, X, large)


def test_entries_stored_twice_are_summed():
    X, y = counts()
    twice = sparse.coo_array(X / 2)
    pairs = np.tile(twice.data, 2), tuple(np.tile(i, 2) for i in (twice.row, twice.col))
    fits = [
        quick(DefaultClassifier).fit(data, y)
        for data in (X, sparse.coo_array(pairs, shape=X.shape))
    ]
    assert_same_fit(*fits, X, X)


def test_validation_data_may_be_sparse():
    X, y = counts()
    X_val, y_val = counts(30, seed=1)
    fits = [
        quick(
            PrestoppingClassifier,
            stop=ValidationStop(patience=2),
            callbacks=[EpochScoring("accuracy", lower_is_better=False)],
        ).fit(kind(X), y, X_val=kind(X_val), y_val=y_val)
        for kind in (np.asarray, sparse.csr_matrix)
    ]
    assert_same_fit(*fits, X, X)
    for name in ("valid_error", "train_loss"):
        first, second = ([getattr(r, name) for r in clf.history_] for clf in fits)
        assert first == second
    scores = [clf.net_.history[:, "accuracy"] for clf in fits]
    assert scores[0] == scores[1]


def test_worker_processes_and_a_loader_read_sparse_rows():
    X, y = counts()
    params = {"max_epochs": 2, "stop": HoldoutStop(patience=1)}
    in_workers = quick(
        PrestoppingClassifier,
        iterator_train__num_workers=1,
        iterator_valid__num_workers=1,
        **params,
    ).fit(sparse.coo_matrix(X), y)
    alone = quick(PrestoppingClassifier, **params).fit(X, y)
    np.testing.assert_array_equal(in_workers.safe_mask_, alone.safe_mask_)


DOCUMENTS = ["red apple pie", "green apple", "fast red car", "car race", "slow car"] * 8
TOPICS = ["food", "food", "cars", "cars", "cars"] * 8


@on_paths("two phases", "two networks", "folds")
def test_a_pipeline_for_text(Classifier):
    model = make_pipeline(TfidfVectorizer(), quick(Classifier, batch_size=8))
    model.fit(DOCUMENTS, TOPICS)
    assert model.score(DOCUMENTS, TOPICS) > 0.9
    assert len(model.predict_proba(["apple car"])) == 1


def test_a_pipeline_for_text_in_searches_and_meta_estimators():
    clf = quick(PrestoppingClassifier, batch_size=8)
    model = make_pipeline(TfidfVectorizer(), clf)
    grid = {"prestoppingclassifier__q": [2, 5], "tfidfvectorizer__use_idf": [True]}
    search = GridSearchCV(model, grid, cv=2).fit(DOCUMENTS, TOPICS)
    assert search.score(DOCUMENTS, TOPICS) > 0.9
    noisy = make_pipeline(
        TfidfVectorizer(), NoisyTargetClassifier(clf, SymmetricNoise(0.1))
    )
    assert cross_val_predict(noisy, DOCUMENTS, TOPICS, cv=2).shape == (40,)
    assert get_tags(clf).input_tags.sparse
    assert get_tags(noisy[-1]).input_tags.sparse


def test_a_splitter_for_sparse_data():
    X, y = counts(60)
    clf = quick(CrossPrestoppingClassifier, cv=3).fit(sparse.csr_array(X), y)
    assert clf.label_quality_.shape == (60,)


def test_a_pickle_holds_no_sparse_data():
    X, y = counts(2000, 200)
    as_sparse = sparse.csr_array(X)
    clf = quick(DefaultClassifier, max_epochs=1).fit(as_sparse, y)
    assert len(pickle.dumps(clf)) < as_sparse.data.nbytes / 4


GOOD, LABELS = counts(40, 6)


def with_value(value):
    changed = GOOD.copy()
    changed[3, 1] = value
    return sparse.csr_matrix(changed)


def test_other_columns_or_bad_numbers_at_predict_and_in_validation():
    clf = quick(DefaultClassifier).fit(sparse.csr_matrix(GOOD), LABELS)
    with pytest.raises(ValueError, match="6 features"):
        clf.predict(sparse.csr_matrix(GOOD[:, :4]))
    with pytest.raises(ValueError, match="contains NaN"):
        clf.predict_proba(with_value(np.nan))
    with pytest.raises(ValueError, match="Input X_val contains NaN"):
        clf.fit(GOOD, LABELS, X_val=with_value(np.nan), y_val=LABELS)
    with pytest.raises(ValueError, match=r"X_val with samples of shape \(4,\)"):
        clf.fit(GOOD, LABELS, X_val=sparse.csr_array(GOOD[:, :4]), y_val=LABELS)


def test_weights_of_sparse_samples():
    X, labels = counts()
    weights = np.random.RandomState(0).uniform(size=len(labels)).round()
    fits = [
        quick(PrestoppingClassifier, stop=HoldoutStop(patience=2)).fit(
            data, labels, sample_weight=weights
        )
        for data in (X, sparse.csr_array(X))
    ]
    assert_same_fit(*fits, X, sparse.csr_array(X))
