"""The distribution of noisy labels over 200,000 draws.

Each test is a chi-square test that fails for a correct injector once in 10,000 seeds;
the seeds are fixed.
"""

import numpy as np
import pytest
from scipy.stats import chi2, chisquare

from skpresto._labels import PART_SIZE
from skpresto.noise import (
    InstanceDependentNoise,
    PairNoise,
    SymmetricNoise,
    TransitionMatrixNoise,
)

FALSE_ALARM = 1e-4
N_DRAWS = 200_000
SKEWED = np.array([[0.5, 0.3, 0.2, 0.0], [0, 1, 0, 0], [0.25] * 4, [1e-3, 0, 0, 0.999]])


def p_value(y, noisy, matrix):
    """Test all rows at once, by the sum of their statistics and degrees of freedom."""
    statistic, freedom = 0.0, 0
    for code, row in enumerate(matrix):
        counts = np.bincount(noisy[y == code], minlength=len(matrix))
        possible = row > 0
        assert not counts[~possible].any()
        if possible.sum() > 1:
            expected = row[possible] * counts.sum()
            statistic += chisquare(counts[possible], expected).statistic
            freedom += possible.sum() - 1
    return chi2.sf(statistic, freedom)


@pytest.fixture(scope="module")
def data():
    rng = np.random.RandomState(11)
    y = rng.choice(4, size=N_DRAWS, p=[0.4, 0.3, 0.2, 0.1])
    return rng.standard_normal((N_DRAWS, 3)) + y[:, np.newaxis], y


@pytest.mark.parametrize(
    "noise",
    [
        SymmetricNoise(0.4, random_state=1),
        SymmetricNoise(0.01, random_state=2),
        PairNoise(0.3, random_state=3),
        PairNoise(0.45, {0: 2, 3: 1}, random_state=4),
        TransitionMatrixNoise(SKEWED, random_state=5),
        InstanceDependentNoise(0.35, random_state=6),
        InstanceDependentNoise(0.05, random_state=7),
    ],
    ids=repr,
)
def test_noisy_labels_are_distributed_as_the_transition_matrix_says(noise, data):
    X, y = data
    noisy = noise.fit_transform(y, X)
    assert p_value(y, noisy, noise.transition_matrix_) > FALSE_ALARM


@pytest.mark.parametrize(
    "noise",
    [SymmetricNoise(0.4), PairNoise(0.3), TransitionMatrixNoise(SKEWED)],
    ids=repr,
)
def test_exact_noise_has_the_same_distribution(noise, data):
    _, y = data
    noise.set_params(exact=True, random_state=8)
    noisy = noise.fit_transform(y)
    assert p_value(y, noisy, noise.transition_matrix_) > FALSE_ALARM


def test_exact_flips_are_uniform_over_all_parts():
    """The positions of flips do not show that labels are processed in parts."""
    y = np.zeros(3 * PART_SIZE + 1000, dtype=int)
    y[::1000] = 1
    noise = SymmetricNoise(0.1, exact=True, random_state=0)
    noise.fit_transform(y)
    per_block = np.add.reduceat(noise.flipped_mask_, np.arange(0, len(y), len(y) // 64))
    expected = np.diff(np.append(np.arange(0, len(y), len(y) // 64), len(y))) * 0.1
    expected *= per_block.sum() / expected.sum()
    assert noise.flipped_mask_.sum() == round(0.1 * len(y))
    assert chisquare(per_block, expected).pvalue > FALSE_ALARM


def test_composition_of_two_noises_has_the_product_matrix(data):
    _, y = data
    other = 0.75 * np.eye(4) + 0.25 * np.eye(4)[[2, 0, 3, 0]]
    first = TransitionMatrixNoise(SKEWED, random_state=9).fit(y)
    second = TransitionMatrixNoise(other, random_state=10).fit(y)
    noisy = second.transform(first.transform(y))
    product = first.transition_matrix_ @ second.transition_matrix_
    assert p_value(y, noisy, product) > FALSE_ALARM


def test_flips_are_independent_of_the_projections_of_the_same_seed(data):
    """Flip probabilities come from the same seed; the number of flips must fit them."""
    X, y = data
    noise = InstanceDependentNoise(0.3, random_state=12)
    noise.fit_transform(y, X)
    probability = noise.flip_probabilities(X)
    edges = np.quantile(probability, np.linspace(0.1, 0.9, 9))
    decile = np.searchsorted(edges, probability)
    expected = np.bincount(decile, weights=probability)
    variance = np.bincount(decile, weights=probability * (1 - probability))
    excess = np.bincount(decile, weights=noise.flipped_mask_) - expected
    assert chi2.sf((excess**2 / variance).sum(), 10) > FALSE_ALARM
