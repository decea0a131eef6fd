"""Packages for wrong labels and for rare classes."""

import numpy as np
import pytest


def test_cleanlab_trains_the_classifier_on_the_labels_it_keeps(clf, data):
    classification = pytest.importorskip("cleanlab.classification")
    X, y = data
    numbers = np.unique(y, return_inverse=True)[1]
    cleaning = classification.CleanLearning(clf, cv_n_folds=2, verbose=False)
    cleaning.fit(X, numbers)
    issues = cleaning.get_label_issues()
    assert issues["is_label_issue"].to_numpy()[::10].mean() > 0.5
    assert cleaning.predict(X).shape == y.shape


def test_cleanlab_finds_issues_by_our_probabilities(clf, data):
    filtering = pytest.importorskip("cleanlab.filter")
    X, y = data
    numbers = np.unique(y, return_inverse=True)[1]
    found = filtering.find_label_issues(numbers, clf.fit(X, y).predict_proba(X))
    assert found[::10].mean() > 0.5
    assert found.mean() < 0.2


def test_imbalanced_learn_resamples_before_training(clf, data):
    pipeline = pytest.importorskip("imblearn.pipeline")
    sampling = pytest.importorskip("imblearn.over_sampling")
    X, y = data
    kept = np.flatnonzero((y != "c") | (np.arange(len(y)) % 4 == 0))
    sampler = sampling.RandomOverSampler(random_state=0)
    model = pipeline.make_pipeline(sampler, clf).fit(X[kept], y[kept])
    assert len(model[-1].safe_mask_) > len(kept)
    assert model.score(X, y) > 0.6
