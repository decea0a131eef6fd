"""NoisyTargetClassifier with PrestoppingClassifier, and both with a Pipeline."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from skpresto import PrestoppingClassifier
from skpresto.noise import NoisyTargetClassifier, SymmetricNoise

X, y = make_blobs(n_samples=180, centers=3, random_state=0, cluster_std=0.7)


def prestopping():
    return PrestoppingClassifier(max_epochs=6, lr=0.05, random_state=0)


@pytest.mark.parametrize("place", ["in a pipeline", "around a pipeline"])
def test_grid_search_over_rate_and_history_scores_on_clean_labels(place):
    noise = SymmetricNoise(random_state=0)
    if place == "in a pipeline":
        inner = NoisyTargetClassifier(prestopping(), noise)
        model = Pipeline([("scale", StandardScaler()), ("model", inner)])
        rate, q = "model__noise__rate", "model__classifier__q"
    else:
        steps = [("scale", StandardScaler()), ("presto", prestopping())]
        model = NoisyTargetClassifier(Pipeline(steps), noise)
        rate, q = "noise__rate", "classifier__presto__q"
    scored = []

    def scorer(fitted, X_scored, y_scored):
        scored.append(y_scored)
        return fitted.score(X_scored, y_scored)

    grid = {rate: [0.0, 0.4], q: [2, 5]}
    search = GridSearchCV(model, grid, cv=3, scoring=scorer, error_score="raise")
    with warnings.catch_warnings():
        # The stop rule is not settled after six epochs.
        warnings.simplefilter("ignore", ConvergenceWarning)
        search.fit(X, y)

    for fold in range(3):
        parts = scored[fold::3]
        assert all(np.array_equal(part, parts[0]) for part in parts)
    np.testing.assert_array_equal(np.sort(np.concatenate(scored[:3])), np.sort(y))
    assert search.best_score_ > 0.8

    best = search.best_estimator_
    fitted = best[-1] if place == "in a pipeline" else best
    assert fitted.safe_mask_.shape == y.shape
    assert fitted.suggested_labels_.shape == y.shape
    assert fitted.stop_epoch_ >= 1


def test_safe_set_has_fewer_wrong_labels_than_the_training_labels():
    noise = SymmetricNoise(0.4, exact=True, random_state=0)
    model = NoisyTargetClassifier(prestopping(), noise)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X, y, X_val=X[:20], y_val=y[:20])
    wrong = model.noise_.flipped_mask_
    assert wrong.mean() == 0.4
    assert wrong[model.safe_mask_].mean() < 0.2
