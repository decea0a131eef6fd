"""The classifier of an audit, and what it records."""

import numpy as np
import pytest
import torch
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skpresto import CrossPrestoppingClassifier, PrestoppingClassifier
from skpresto.audit._fit import (
    audit_epochs,
    audit_estimator,
    fit_report,
    standardized,
)
from skpresto.modules import MLP

# A few epochs are enough here, and too few for the stop rule to settle.
pytestmark = pytest.mark.filterwarnings("ignore:.*max_epochs:UserWarning")


def test_the_epochs_fall_with_the_number_of_rows():
    epochs = [audit_epochs(n) for n in (0, 1, 100, 2000, 5000, 20_000, 10**6)]
    assert epochs == sorted(epochs, reverse=True)
    assert epochs[0] == 60
    assert epochs[-1] == 20


def test_the_classifier_is_chosen():
    quick = audit_estimator(100, quick=True, seed=3, epochs=7, n_jobs=2)
    assert type(quick) is PrestoppingClassifier
    assert (quick.max_epochs, quick.random_state, quick.n_jobs) == (7, 3, 2)
    assert type(audit_estimator(100)) is CrossPrestoppingClassifier
    assert audit_estimator(100, batch_size=64).batch_size == 64


@pytest.mark.parametrize("quick", [True, False])
def test_networks_on_few_rows_are_kept_from_memorizing_them(quick):
    few = audit_estimator(4000, quick=quick)
    assert few.get_params()["module__dropout"] == 0.5
    own = audit_estimator(4000, quick=quick, module=MLP)
    for other in (own, audit_estimator(4001, quick=quick)):
        assert "module__dropout" not in other.get_params()


@pytest.mark.parametrize("shape", [(50, 3), (50, 3, 4, 4)])
def test_samples_are_standardized_by_column_or_channel(shape):
    X = np.random.RandomState(0).normal(5, 3, size=shape)
    X[:, 2] = 7
    scaled = standardized(X)
    axes = (0, *range(2, len(shape)))
    assert scaled.dtype == np.float32
    np.testing.assert_allclose(scaled.mean(axis=axes), 0, atol=1e-5)
    np.testing.assert_allclose(scaled.std(axis=axes), [1, 1, 0], atol=1e-5)


@pytest.mark.parametrize("quick", [True, False])
def test_the_trajectories_are_those_of_the_epochs(noisy_blobs, quick):
    X, y, y_true = noisy_blobs
    clf = audit_estimator(len(y), quick, seed=2, epochs=20, module__hidden=(16,))
    report = fit_report(clf, standardized(X), y, shown=X)
    values = report.trajectories
    assert values.shape == (len(y), 20)
    assert np.nanmin(values) >= 0
    assert np.nanmax(values) <= 1
    assert not np.isnan(values[:, -1]).any()
    # Given labels that are wrong have a lower probability in the end.
    last = values[:, -1]
    assert last[y == y_true].mean() > last[y != y_true].mean() + 0.2
    assert report.X is X


def test_recording_changes_nothing(noisy_blobs):
    X, y, _ = noisy_blobs
    pipeline = make_pipeline(StandardScaler(), audit_estimator(400, epochs=6))
    recorded = fit_report(pipeline, X, y)
    plain = make_pipeline(StandardScaler(), audit_estimator(400, epochs=6)).fit(X, y)
    assert np.array_equal(recorded.frame["quality"], plain[-1].label_quality_)
    weights = [p[-1].net_.module_.state_dict() for p in (pipeline, plain)]
    assert all(torch.equal(weights[0][k], weights[1][k]) for k in weights[0])
