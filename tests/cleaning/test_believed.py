"""What is believed after an assessment, and how well it explains labels."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skpresto._cleaning.believed import Believed
from skpresto._cleaning.guard import explained


@given(st.integers(1, 40), st.integers(2, 4), st.integers(0, 9999), st.booleans())
def test_no_class_is_lost(n_samples, n_classes, seed, takes_weights):
    rng = np.random.RandomState(seed)
    codes = rng.randint(n_classes, size=n_samples)
    posterior = rng.dirichlet(np.full(n_classes, 0.3), size=n_samples)
    weight = rng.choice([0.0, 1.0, 2.0], size=n_samples)
    believed = Believed.corrected(posterior, codes, weight, takes_weights)
    learned = believed.codes[believed.weights > 0]
    for c in range(n_classes):
        of_class = np.count_nonzero((codes == c) & (weight > 0))
        assert np.count_nonzero(learned == c) >= min(5, of_class)
    assert (believed.weights[weight == 0] == 0).all()
    assert (believed.weights <= weight).all()


def test_the_most_probable_class_is_weighted_by_its_probability():
    rng = np.random.RandomState(0)
    posterior = rng.dirichlet(np.ones(3), size=300)
    codes = rng.randint(3, size=300)
    believed = Believed.corrected(posterior, codes, None, takes_weights=True)
    assert np.array_equal(believed.codes, posterior.argmax(axis=1))
    np.testing.assert_allclose(believed.weights, posterior.max(axis=1))
    kept = Believed.corrected(posterior, codes, None, takes_weights=False)
    assert np.array_equal(kept.weights, posterior.max(axis=1) >= 0.5)


def test_true_classes_explain_labels_better_than_the_labels_of_similar_rows():
    """Of class 0, four in ten labels are wrong: 1. A tie of votes is no prediction."""
    rng = np.random.RandomState(0)
    true = rng.randint(2, size=2000)
    labels = np.where((true == 0) & (rng.uniform(size=2000) < 0.4), 1, true)
    certain = np.eye(2)[true]
    mistaken = np.eye(2)[np.where(rng.uniform(size=2000) < 0.2, 1 - true, true)]
    score = {
        name: explained(values, labels).mean()
        for name, values in {"true": certain, "some": mistaken}.items()
    }
    entropy = -(0.6 * np.log(0.6) + 0.4 * np.log(0.4)) / 2
    assert score["true"] == pytest.approx(-entropy, abs=0.03)
    assert score["some"] < score["true"] - 0.05


def test_overconfidence_is_forgiven():
    rng = np.random.RandomState(0)
    labels = rng.randint(3, size=500)
    values = rng.dirichlet(np.ones(3), size=500) + np.eye(3)[labels] * 0.3
    values /= values.sum(axis=1, keepdims=True)
    overconfident = values**3 / (values**3).sum(axis=1, keepdims=True)
    assert explained(overconfident, labels).mean() == pytest.approx(
        explained(values, labels).mean(), abs=0.02
    )
