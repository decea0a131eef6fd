"""What a label says about the true class, held against loops and simulations."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from skpresto._training.noise_model import _TEMPERATURES, NoiseModel

C = 3
rows = st.lists(st.sampled_from([-5.0, -2.0, -0.5, 0.0]), min_size=C, max_size=C)
samples = st.lists(st.tuples(rows, st.integers(0, C - 1)), min_size=1, max_size=12)
temperatures = st.sampled_from([0.25, 0.7, 1.0, 3.0])


def tensors_of(samples):
    said, labels = zip(*samples, strict=True)
    return torch.log_softmax(torch.tensor(said), dim=1), torch.tensor(labels)


def naive_likely(model, said, label):
    """Bayes' rule for one sample, in double precision."""
    powers = [math.exp(v / model.temperature) for v in said.tolist()]
    joint = [
        powers[j] / sum(powers) * model.matrix[j, label].item()
        for j in range(len(said))
    ]
    return [v / sum(joint) for v in joint], sum(joint)


@given(samples, temperatures)
def test_likely_is_bayes_rule(samples, temperature):
    said, labels = tensors_of(samples)
    model = NoiseModel.counted(said, labels, C)._replace(temperature=temperature)
    twins = [naive_likely(model, s, k) for s, k in zip(said, labels, strict=True)]
    expected = np.array([likely for likely, _ in twins])
    assert model.likely(said, labels).numpy() == pytest.approx(expected, abs=1e-5)
    mean = np.mean([math.log(joint) for _, joint in twins])
    assert model.log_likelihood(said, labels) == pytest.approx(mean, abs=1e-4)


@given(samples)
def test_the_first_guess_counts_labels_of_the_most_likely_classes(samples):
    said, labels = tensors_of(samples)
    counts = [[1 / C] * C for _ in range(C)]
    for best, label in zip(said.argmax(dim=1).tolist(), labels.tolist(), strict=True):
        counts[best][label] += 1
    expected = np.array([[n / sum(row) for n in row] for row in counts])
    assert NoiseModel.counted(said, labels, C).matrix.numpy() == pytest.approx(expected)


def penalised(model, said, labels):
    """What expectation maximization makes larger: one more sample a class is in it."""
    prior = model.matrix.log().sum().item() / C
    return model.log_likelihood(said, labels) * len(labels) + prior


@settings(deadline=None)
@given(samples)
def test_an_improved_model_makes_the_labels_no_less_likely(samples):
    said, labels = tensors_of(samples)
    first = NoiseModel.counted(said, labels, C)
    better = first.improved(said, labels)
    # The temperature is searched to a few per cent only.
    assert penalised(better, said, labels) > penalised(first, said, labels) - 0.02
    assert better.matrix.sum(dim=1).tolist() == pytest.approx([1] * C, abs=1e-5)
    assert (better.matrix > 0).all()
    lowest, highest = _TEMPERATURES
    assert lowest <= better.temperature <= highest


def test_nothing_is_learnt_from_nothing():
    none = torch.zeros(0, C), torch.zeros(0, dtype=torch.int64)
    model = NoiseModel.counted(*none, C)
    assert model.matrix.tolist() == [pytest.approx([1 / C] * C)] * C
    assert model.improved(*none) is model


@pytest.mark.parametrize("exponent", [0.5, 1.0, 2.0])
def test_noise_and_confidence_are_told_apart(exponent):
    """Opinions are often wrong, and claim too little or too much; labels err as well.

    Counting takes both kinds of mistakes for wrong labels.
    """
    rng = np.random.RandomState(0)
    probability = rng.dirichlet([0.4] * C, size=6000)
    truth = np.array([rng.choice(C, p=p) for p in probability])
    matrix = np.array([[0.7, 0.3, 0.0], [0.0, 0.8, 0.2], [0.1, 0.1, 0.8]])
    labels = np.array([rng.choice(C, p=matrix[k]) for k in truth])
    said = torch.tensor(probability).clamp(min=1e-6).log().float() * exponent
    given = torch.from_numpy(labels)
    model = NoiseModel.counted(said, given, C)
    assert abs(model.matrix.numpy() - matrix).max() > 0.1
    for _ in range(10):
        model = model.improved(said, given)
    assert model.matrix.numpy() == pytest.approx(matrix, abs=0.06)
    assert model.temperature == pytest.approx(exponent, rel=0.15)
