"""Noise that depends on the features of each sample."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array, csr_matrix
from scipy.stats import spearmanr

from skpresto.noise import InstanceDependentNoise

quick = settings(deadline=None, derandomize=True, max_examples=40)


def samples(n_samples=2000, n_features=5, seed=0):
    rng = np.random.RandomState(seed)
    y = rng.randint(3, size=n_samples)
    return rng.exponential(size=(n_samples, n_features)) + y[:, np.newaxis], y


@quick
@given(
    rate=st.floats(0, 1),
    spread=st.floats(0, 1),
    n_samples=st.integers(2, 50),
    kind=st.sampled_from(["continuous", "binary", "constant"]),
    seed=st.integers(0, 2**31 - 1),
)
def test_mean_flip_probability_is_the_rate(rate, spread, n_samples, kind, seed):
    rng = np.random.RandomState(seed)
    X = {
        "continuous": rng.exponential(size=(n_samples, 2)),
        "binary": (rng.random_sample((n_samples, 1)) < 0.1).astype(float),
        "constant": np.full((n_samples, 1), 1 / 3),
    }[kind]
    noise = InstanceDependentNoise(rate, spread=spread, random_state=seed)
    probability = noise.fit(np.arange(n_samples) % 2, X).flip_probabilities(X)
    assert (probability >= 0).all()
    assert (probability <= 1).all()
    assert probability.mean() == pytest.approx(rate, rel=0, abs=1e-9)


def test_spread_is_the_standard_deviation_of_flip_probabilities():
    X, y = samples()
    noise = InstanceDependentNoise(0.4, spread=0.1, random_state=0).fit(y, X)
    assert noise.flip_probabilities(X).std() == pytest.approx(0.1, abs=0.02)


def test_without_spread_all_flip_probabilities_are_equal():
    X, y = samples()
    noise = InstanceDependentNoise(0.4, spread=0, random_state=0).fit(y, X)
    np.testing.assert_allclose(noise.flip_probabilities(X), 0.4)


@pytest.mark.parametrize("exact", [False, True])
def test_samples_flip_with_their_flip_probability(exact):
    X, y = samples(n_samples=200)
    noise = InstanceDependentNoise(0.3, exact=exact, random_state=0).fit(y, X)
    probability = noise.flip_probabilities(X)
    rng = np.random.RandomState(1)
    noise.set_params(random_state=rng)
    fraction = np.zeros(len(y))
    for _ in range(500):
        noise.transform(y, X)
        fraction += noise.flipped_mask_ / 500
    assert spearmanr(probability, fraction).statistic > 0.95
    np.testing.assert_allclose(fraction, probability, atol=0.1)


def test_new_class_depends_on_the_sample():
    """Samples of one class that are far apart get different new classes."""
    X = np.array([[-3.0, 1.0], [3.0, 1.0]] * 500)
    y = np.zeros(1000, dtype=int)
    y[:10] = np.arange(10) % 3
    noise = InstanceDependentNoise(1.0, random_state=4)
    noisy = noise.fit_transform(y, X)
    left, right = noisy[10::2], noisy[11::2]
    assert abs(np.mean(left == 1) - np.mean(right == 1)) > 0.3


def test_units_of_features_do_not_matter():
    X, y = samples()
    noise = InstanceDependentNoise(0.3, random_state=0)
    expected = noise.fit_transform(y, X)
    changed = noise.fit_transform(y, X * [1, 1000, 0.001, 1, 1] + [0, 0, 0, 50, -50])
    assert np.mean(changed == expected) > 0.999


@pytest.mark.parametrize("container", [csr_array, csr_matrix])
def test_sparse_and_dense_samples_give_the_same_noise(container):
    X, y = samples()
    X[X < 1] = 0
    noise = InstanceDependentNoise(0.3, random_state=0)
    dense, dense_matrix = noise.fit_transform(y, X), noise.transition_matrix_
    sparse = noise.fit_transform(y, container(X))
    np.testing.assert_allclose(noise.transition_matrix_, dense_matrix, atol=1e-9)
    assert np.mean(sparse == dense) > 0.999


def test_images_are_flattened():
    X, y = samples(n_features=12)
    noise = InstanceDependentNoise(0.3, random_state=0)
    rows = noise.fit_transform(y, X)
    images = noise.fit_transform(y, X.reshape(-1, 3, 2, 2))
    np.testing.assert_array_equal(images, rows)
    assert noise.n_features_in_ == 12


def test_new_samples_are_flipped_by_their_own_probabilities():
    X, y = samples()
    noise = InstanceDependentNoise(0.3, exact=True, random_state=0).fit(y, X)
    X_new, y_new = samples(n_samples=500, seed=1)
    noise.transform(y_new, X_new)
    assert noise.flipped_mask_.sum() == 150
    assert noise.flip_probabilities(X_new).mean() == pytest.approx(0.3, abs=0.02)


def test_flips_are_not_drawn_with_the_numbers_of_the_projections():
    """Which labels flip must not depend on the projections but by their result."""
    X, y = samples(n_samples=300)
    noise = InstanceDependentNoise(0.3, spread=0, random_state=0)
    noise.fit_transform(y, X)
    stream = np.random.RandomState(0).random_sample(2 * len(y))
    for start in range(len(y)):
        draws = stream[start : start + len(y)]
        assert not np.array_equal(noise.flipped_mask_, draws < 0.3)


def test_other_projections_do_not_change_which_labels_flip_at_a_fixed_rate():
    X, y = samples(n_samples=300)
    noise = InstanceDependentNoise(0.3, spread=0, random_state=0)
    noise.fit_transform(y, X)
    flipped = noise.flipped_mask_
    noise.fit_transform(y, X[:, :2])
    np.testing.assert_array_equal(noise.flipped_mask_, flipped)


def test_exact_noise_does_not_flip_samples_of_probability_zero():
    """If too few new samples can flip, fewer labels flip than the rate says."""
    X = np.array([[0.0], [0.0], [0.0], [1.0]])
    noise = InstanceDependentNoise(0.25, spread=1, exact=True, random_state=0)
    noise.fit([0, 1, 0, 1], X)
    safe = X[noise.flip_probabilities(X).argmin()]
    y_new = np.zeros(100, dtype=int)
    if noise.flip_probabilities([safe])[0] == 0:
        noise.transform(y_new, np.tile(safe, (100, 1)))
        assert noise.realized_rate_ == 0


def test_pickle_does_not_contain_training_data():
    import pickle

    X, y = samples(n_samples=5000)
    noise = InstanceDependentNoise(random_state=0).fit(y, X)
    assert len(pickle.dumps(noise)) < 5000


def test_matrix_of_a_class_with_many_samples_is_averaged_in_parts():
    X, y = samples(n_samples=15_000)
    noise = InstanceDependentNoise(0.3, random_state=0).fit(y, X)
    off_diagonal = 1 - noise.transition_matrix_.diagonal()
    prior = np.bincount(y) / len(y)
    assert off_diagonal @ prior == pytest.approx(0.3, abs=1e-9)
