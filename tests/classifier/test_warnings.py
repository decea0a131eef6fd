"""Warnings point at the line that called fit, not at one of ours."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skpresto import (
    CrossPrestoppingClassifier,
    PrestoppingClassifier,
    PrestoppingPlusClassifier,
    SelfieClassifier,
)
from skpresto.exceptions import FallbackWarning, SafeSetWarning
from skpresto.stopping import AgreementStop, NoiseRateStop


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
        (
            CrossPrestoppingClassifier(max_epochs=2, stop=AgreementStop()),
            ConvergenceWarning,
        ),
        (SelfieClassifier(noise_rate=0.3, q=9, max_epochs=4), ConvergenceWarning),
    ],
    ids=["Prestopping", "Prestopping+", "CrossPrestopping", "SELFIE"],
)
def test_a_run_too_short(clf, category, noisy_blobs):
    X, y, _ = noisy_blobs
    assert (category, __file__) in warned(clf.set_params(random_state=0), X, y)


@pytest.mark.parametrize(
    "kind",
    [PrestoppingClassifier, PrestoppingPlusClassifier, CrossPrestoppingClassifier],
)
def test_a_class_that_is_lost(kind, noisy_blobs):
    """The label of one sample amid another class is not accepted."""
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


def test_a_fallback_warns_once_of_itself_and_once_of_its_stop_point(noisy_blobs):
    X, _, _ = noisy_blobs
    y = np.random.RandomState(0).permutation(np.arange(len(X)) % 10)
    clf = CrossPrestoppingClassifier(cv=2, max_epochs=4, random_state=0)
    caught = all_warned(clf, X, y)
    assert {w.filename for w in caught} == {__file__}
    fallback, unsettled = (
        [str(w.message) for w in caught if w.category is category]
        for category in (FallbackWarning, ConvergenceWarning)
    )
    assert len(fallback) == len(unsettled) == 1
    assert "accepted fewer than half of the labels" in fallback[0]
    rule = "AgreementStop(min_memorized_fraction=0.5)"
    assert f"{rule} was settled; no epoch is left for phase" in unsettled[0]
