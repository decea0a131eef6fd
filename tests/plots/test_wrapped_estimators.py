"""Displays find the classifier in Pipelines and searches."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skpresto import (
    CrossPrestoppingClassifier,
    DefaultClassifier,
    PrestoppingClassifier,
)
from skpresto.noise import NoisyTargetClassifier, SymmetricNoise
from skpresto.plots import (
    LossDistributionDisplay,
    MemorizationDisplay,
    SafeSetDisplay,
    StopPointDisplay,
    TransitionMatrixDisplay,
)
from skpresto.stopping import NoiseRateStop
from tests.discovery import quick

HISTORIES = [StopPointDisplay, SafeSetDisplay, MemorizationDisplay]


def wrapped(kind, clf):
    pipe = make_pipeline(StandardScaler(), clf)
    if kind == "pipeline":
        return pipe
    if kind == "noisy target":
        return NoisyTargetClassifier(pipe, SymmetricNoise(0.3, random_state=0))
    return GridSearchCV(pipe, {f"{pipe.steps[-1][0]}__lr": [0.1]}, cv=2)


@pytest.fixture(params=["pipeline", "noisy target", "search"])
def fitted(request, noisy_blobs):
    X, y, y_true = noisy_blobs
    clf = quick(PrestoppingClassifier, stop=NoiseRateStop(0.5))
    estimator = wrapped(request.param, clf)
    if request.param == "noisy target":
        return estimator.fit(X, y_true)
    return estimator.fit(X, y, prestoppingclassifier__y_true=y_true)


@pytest.mark.parametrize("Display", HISTORIES)
def test_histories_of_wrapped_classifiers(Display, fitted):
    last = getattr(fitted, "best_estimator_", getattr(fitted, "classifier_", fitted))[
        -1
    ]
    shown, direct = Display.from_estimator(fitted), Display.from_estimator(last)
    assert shown.frame().equals(direct.frame())


def test_losses_of_wrapped_classifiers(fitted, noisy_blobs):
    X, y, y_true = noisy_blobs
    display = LossDistributionDisplay.from_estimator(fitted, X, y, y_true)
    of_label = fitted.predict_proba(X)[np.arange(len(y)), y]
    np.testing.assert_allclose(np.exp(-display.losses), of_label, rtol=1e-3, atol=1e-6)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_transition_matrix_of_a_pipeline(noisy_blobs):
    X, y, _ = noisy_blobs
    pipe = make_pipeline(StandardScaler(), quick(CrossPrestoppingClassifier))
    display = TransitionMatrixDisplay.from_estimator(pipe.fit(X, y))
    np.testing.assert_allclose(display.matrix, pipe[-1].transition_matrix_, rtol=1e-6)


@pytest.mark.parametrize("Display", HISTORIES)
def test_wrapped_classifiers_that_cannot_be_plotted(Display, noisy_blobs):
    X, y, _ = noisy_blobs
    pipe = make_pipeline(StandardScaler(), quick(PrestoppingClassifier))
    with pytest.raises(NotFittedError, match="PrestoppingClassifier instance is"):
        Display.from_estimator(pipe)
    with pytest.raises(ValueError, match="of skpresto.*LogisticRegression has none"):
        Display.from_estimator(LogisticRegression().fit(X, y))
    search = GridSearchCV(LogisticRegression(), {"C": [1]}, cv=2, refit=False)
    with pytest.raises(ValueError, match="best estimator of a search.*refit=True"):
        Display.from_estimator(search.fit(X, y))


def test_a_fitted_classifier_is_never_called_unfitted(noisy_blobs):
    X, y, _ = noisy_blobs
    clf = quick(DefaultClassifier).fit(X, y)
    with pytest.raises(ValueError, match="DefaultClassifier has no stop point"):
        StopPointDisplay.from_estimator(clf)
    with pytest.raises(ValueError, match="DefaultClassifier has no transition_matrix_"):
        TransitionMatrixDisplay.from_estimator(clf)
    with pytest.raises(ValueError, match="needs a noise injector, but Default"):
        TransitionMatrixDisplay.from_injector(clf)
