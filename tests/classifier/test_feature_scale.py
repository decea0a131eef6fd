"""Features and validation data that nobody scaled are noticed, others never."""

import warnings

import numpy as np
import pytest
import sklearn
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_digits, load_iris
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from torch import nn

from skpresto import DefaultClassifier, PrestoppingClassifier
from skpresto._classifier.feature_scale import features_of_other_scale
from skpresto.exceptions import MismatchWarning
from tests.discovery import quick, short_fits_warn, with_two

pytestmark = short_fits_warn
MESSAGE = r'X_val on another scale.*Pipeline\(steps, transform_input=\["X_val"\]\)'


def table(n_rows=300, seed=0):
    rng = np.random.RandomState(seed)
    X = rng.normal(size=(n_rows, 4)) * [1, 9, 30, 400] + [5, 40, 0, 1000]
    return X, (X[:, 1] > 40).astype(int)


@with_two
def test_validation_data_that_the_pipeline_did_not_scale(Classifier):
    X, y = table()
    clf = quick(Classifier, max_epochs=4)
    pipe = make_pipeline(StandardScaler(), clf)
    name = type(clf).__name__.lower()
    params = {f"{name}__X_val": X[:60], f"{name}__y_val": y[:60]}
    with pytest.warns(MismatchWarning, match=MESSAGE) as found:
        pipe.fit(X[60:], y[60:], **params)
    assert [w.filename for w in found if w.category is MismatchWarning] == [__file__]


@pytest.mark.parametrize("scaler", [StandardScaler(), MinMaxScaler()])
@pytest.mark.parametrize("n_valid", [12, 60])
def test_scaled_training_and_raw_validation_data_differ(scaler, n_valid):
    X, _ = table()
    scaled, raw = scaler.fit_transform(X[n_valid:]), X[:n_valid]
    assert features_of_other_scale(scaled, raw).sum() >= 2
    assert features_of_other_scale(X[n_valid:], scaler.transform(raw)).sum() >= 2
    assert not features_of_other_scale(scaled, scaler.transform(raw)).any()


def test_one_feature_that_is_far_away_is_enough():
    rng = np.random.RandomState(0)
    X, X_val = rng.normal(size=(500, 30)), rng.normal(size=(100, 30))
    X_val[:, 7] = 50_000 + 9000 * X_val[:, 7]
    assert features_of_other_scale(X, X_val).nonzero()[0].tolist() == [7]


def test_the_recommended_pipeline_gives_no_warning():
    X, y = table()
    with sklearn.config_context(enable_metadata_routing=True):
        clf = quick(PrestoppingClassifier).set_fit_request(X_val=True, y_val=True)
        steps = [("scale", StandardScaler()), ("clf", clf)]
        pipe = Pipeline(steps, transform_input=["X_val"])
        with warnings.catch_warnings():
            warnings.simplefilter("error", MismatchWarning)
            pipe.fit(X[60:], y[60:], X_val=X[:60], y_val=y[:60])


def test_images_are_compared_and_datasets_are_not(noisy_blobs):
    import torch
    from torch.utils.data import TensorDataset

    rng = np.random.RandomState(0)
    X, y = rng.normal(size=(60, 1, 8, 8)).astype(np.float32), np.arange(60) % 2
    clf = DefaultClassifier(max_epochs=1, random_state=0)
    with pytest.warns(MismatchWarning, match="64 of 64 features differ"):
        clf.fit(X[20:], y[20:], X_val=255 * np.abs(X[:20]), y_val=y[:20])
    brighter = TensorDataset(torch.from_numpy(255 * X), torch.from_numpy(y))
    clf.fit(X, y, X_val=brighter)


DISTRIBUTIONS = {
    "normal": lambda rng, size: rng.normal(size=size),
    "cauchy": lambda rng, size: rng.standard_cauchy(size=size),
    "lognormal": lambda rng, size: np.exp(3 * rng.normal(size=size)),
    "rare": lambda rng, size: (rng.uniform(size=size) < 0.02) * 1e6,
    "binary": lambda rng, size: rng.randint(2, size=size),
    "constant": lambda rng, size: np.full(size, 3.0),
    "copies": lambda rng, size: np.tile(rng.standard_cauchy((size[0], 1)), size[1]),
}


@given(
    kind=st.sampled_from(sorted(DISTRIBUTIONS)),
    n=st.integers(2, 300),
    m=st.integers(1, 100),
    n_features=st.integers(1, 6),
    seed=st.integers(0, 10**6),
)
def test_no_false_alarm_for_samples_of_one_distribution(kind, n, m, n_features, seed):
    rng = np.random.RandomState(seed)
    X = DISTRIBUTIONS[kind](rng, (n + m, n_features)).astype(np.float64)
    assert not features_of_other_scale(X[:n], X[n:]).any()


@given(n=st.integers(2, 30), m=st.integers(1, 3))
def test_few_rows_prove_nothing(n, m):
    X = np.random.RandomState(n).normal(size=(n, 3))
    assert not features_of_other_scale(X, 1000 + np.zeros((m, 3))).any()


def raw_table():
    X, y = table()
    return np.column_stack([X[:, :2], X[:, :3] / 20, 500 * X[:, 3]]), y


@with_two
def test_a_column_that_dominates_the_others_is_named_with_the_way_out(Classifier):
    X, y = raw_table()
    clf = quick(Classifier, max_epochs=4)
    advice = rf"make_pipeline\(StandardScaler\(\), {type(clf).__name__}\(\)\)"
    with pytest.warns(MismatchWarning, match=rf"very different scale.*{advice}"):
        clf.fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error", MismatchWarning)
        clf.fit(StandardScaler().fit_transform(X), y)


@pytest.mark.parametrize("load", [load_digits, load_iris])
def test_pixels_and_lengths_as_they_are_do_not_dominate(load):
    X, y = load(return_X_y=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error", MismatchWarning)
        DefaultClassifier(max_epochs=1).fit(X, y)


def test_networks_of_users_may_scale_their_input_themselves():
    X, y = raw_table()
    X = X.astype(np.float32)
    module = nn.Sequential(nn.BatchNorm1d(6), nn.Linear(6, 2))
    with warnings.catch_warnings():
        warnings.simplefilter("error", MismatchWarning)
        DefaultClassifier(module, max_epochs=1).fit(X, y)
        DefaultClassifier(max_epochs=1).fit(np.repeat(X[:, :1], 3, axis=1), y)
        DefaultClassifier(max_epochs=1).fit(np.zeros((300, 2)), y)
        DefaultClassifier(max_epochs=1).fit(np.resize(X, (300, 1, 4, 4)), y)
