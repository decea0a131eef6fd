"""Warnings point at the line that called fit, not at one of ours."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skpresto import (
    PrestoppingClassifier,
    PrestoppingPlusClassifier,
    SelfieClassifier,
)
from skpresto.exceptions import SafeSetWarning
from skpresto.stopping import NoiseRateStop


def all_warned(clf, X, y):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        clf.fit(X, y)
    return caught


def warned(clf, X, y):
    return {(w.category, w.filename) for w in all_warned(clf, X, y)}


@pytest.mark.parametrize(
    ("clf", "category"),
    [
        (PrestoppingClassifier(max_epochs=2), ConvergenceWarning),
        (PrestoppingPlusClassifier(max_epochs=2), ConvergenceWarning),
        (PrestoppingPlusClassifier(folds=None, max_epochs=2), ConvergenceWarning),
        (SelfieClassifier(noise_rate=0.3, q=9, max_epochs=4), ConvergenceWarning),
    ],
    ids=["Prestopping", "Prestopping+", "Prestopping+ as published", "SELFIE"],
)
def test_a_run_too_short(clf, category, noisy_blobs):
    X, y, _ = noisy_blobs
    assert (category, __file__) in warned(clf.set_params(random_state=0), X, y)


@pytest.mark.parametrize("kind", [PrestoppingClassifier, PrestoppingPlusClassifier])
def test_a_class_that_is_lost(kind, noisy_blobs):
    """One sample of a class in the midst of others is not believed."""
    X, y, _ = noisy_blobs
    y = y.copy()
    y[0] = y.max() + 1
    clf = kind(stop=NoiseRateStop(0.4), max_epochs=8, random_state=0)
    assert (SafeSetWarning, __file__) in warned(clf, X, y)


@pytest.mark.parametrize(
    "around", [lambda clf: make_pipeline(StandardScaler(), clf), OneVsRestClassifier]
)
def test_through_other_estimators(around, noisy_blobs):
    X, y, _ = noisy_blobs
    clf = around(PrestoppingClassifier(max_epochs=2))
    assert (ConvergenceWarning, __file__) in warned(clf, X, y)


def test_networks_that_vote_warn_once_and_of_their_own_stop_point(noisy_blobs):
    X, _, _ = noisy_blobs
    y = np.random.RandomState(0).permutation(np.arange(len(X)) % 10)
    clf = PrestoppingPlusClassifier(folds=2, max_epochs=4, random_state=0)
    said = [
        str(w.message)
        for w in all_warned(clf, X, y)
        if w.category is ConvergenceWarning
    ]
    assert len(said) == 1
    assert "AgreementStop(least=0.5) was settled; no epoch is left for phase" in said[0]
