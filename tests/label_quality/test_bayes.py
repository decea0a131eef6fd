"""Bayes' rule in numpy: the same as in torch, and as in loops."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from skpresto._label_quality import bayes
from skpresto._label_quality.posterior import LabelPosterior
from skpresto._methods._fold_networks import weights_by_lead


@st.composite
def predictions(draw):
    """Probabilities and labels; of some samples nothing is known."""
    n_samples, n_classes = draw(st.integers(1, 30)), draw(st.integers(2, 5))
    rng = np.random.RandomState(draw(st.integers(0, 2**31 - 1)))
    scores = rng.normal(scale=draw(st.floats(0.1, 4)), size=(n_samples, n_classes))
    probability = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    probability[rng.uniform(size=n_samples) < draw(st.sampled_from([0, 0.2]))] = 0
    return probability.astype(np.float32), rng.randint(n_classes, size=n_samples)


def transitions_of(n_classes, seed):
    rng = np.random.RandomState(seed)
    return rng.dirichlet(np.ones(n_classes), size=n_classes) * 0.99 + 0.01 / n_classes


@given(predictions())
def test_it_is_the_posterior_of_torch(drawn):
    probability, labels = drawn
    tensors = torch.from_numpy(probability), torch.from_numpy(labels)
    expected = LabelPosterior.counted(*tensors, shrunken=True)
    T = bayes.count_transitions(probability, labels)
    np.testing.assert_allclose(T, expected.transition_matrix.numpy(), rtol=1e-5)
    found = bayes.posterior(probability, labels, T)
    rows = expected.posterior(torch.arange(len(labels)))
    np.testing.assert_allclose(found, rows.numpy(), rtol=1e-4, atol=1e-6)
    quality = bayes.quality_of(probability, labels, T)
    np.testing.assert_allclose(quality, expected.label_quality(), rtol=1e-4)
    weights = weights_by_lead(torch.from_numpy(found), tensors[1])
    np.testing.assert_allclose(
        bayes.weights_by_lead(found, labels), weights.numpy(), rtol=1e-5
    )


@given(predictions(), st.integers(0, 99), st.sampled_from([0.5, 1.0, 3.0]))
def test_evidence_and_likelihoods_are_those_of_loops(drawn, seed, strength):
    V, labels = drawn
    n_classes = V.shape[1]
    T = transitions_of(n_classes, seed)
    found = bayes.evidence_of_labels_around(V, T, strength)
    likelihoods = bayes.log_likelihoods(V, labels, T)
    for row, evidence, label, log in zip(
        V.tolist(), found, labels, likelihoods, strict=True
    ):
        products = [
            math.prod(T[j][k] ** (strength * row[k]) for k in range(n_classes))
            for j in range(n_classes)
        ]
        expected = [product / max(products) for product in products]
        assert evidence.tolist() == pytest.approx(expected, rel=1e-4)
        p = row if sum(row) else [1 / n_classes] * n_classes
        likelihood = sum(p[j] * T[j][label] for j in range(n_classes))
        assert math.exp(log) == pytest.approx(likelihood, rel=1e-4)


def test_nearly_certain_labels_differ_in_quality():
    doubts = np.array([1e-5, 1e-8, 1e-10])
    probability = np.stack([1 - doubts, doubts], axis=1)
    quality = bayes.quality_of(
        probability, np.zeros(3, dtype=int), transitions_of(2, 0)
    )
    assert quality.tolist() == sorted(set(quality.tolist()))
    certain = bayes.quality_of(
        np.array([[0.0, 1.0], [1.0, 0.0]]), np.array([0, 0]), transitions_of(2, 0)
    )
    assert certain.tolist() == [0, 1]
