"""MORPH's estimate and its loss of phase II, by loops."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from skpresto._data.augment import Augment
from skpresto._data.batch import Batch
from skpresto._label_quality.history import PredictionHistory
from skpresto._methods._loss_mixture import (
    LearnFromAllAndEstimate,
    noise_rate_of_losses,
)
from skpresto._methods.morph import LearnSafeSetAndConsistency, ramp_up


def naive_noise_rate(losses):
    """Return the estimate by expectation maximization, sample by sample."""
    mean = sum(losses) / len(losses)
    spread = math.sqrt(sum((x - mean) ** 2 for x in losses) / len(losses))
    values = [(x - mean) / spread for x in losses]
    shares = [[float(x <= 0), float(x > 0)] for x in values]
    before = -math.inf
    for _ in range(101):
        groups = [naive_group(values, [share[k] for share in shares]) for k in (0, 1)]
        densities = [[w * density(x, m, v) for w, m, v in groups] for x in values]
        likelihood = sum(math.log(sum(d)) for d in densities) / len(values)
        if abs(likelihood - before) < 1e-3:
            break
        before = likelihood
        shares = [[part / sum(d) for part in d] for d in densities]
    # The last step changes the groups once more.
    shares = [[part / sum(d) for part in d] for d in densities]
    groups = [naive_group(values, [share[k] for share in shares]) for k in (0, 1)]
    large = 0 if groups[0][1] > groups[1][1] else 1
    densities = [[w * density(x, m, v) for w, m, v in groups] for x in values]
    return sum(d[large] / sum(d) for d in densities) / len(values)


def naive_group(values, shares):
    """Return weight, mean and variance of a group."""
    total = sum(shares)
    mean = sum(s * x for s, x in zip(shares, values, strict=True)) / total
    squares = sum(s * (x - mean) ** 2 for s, x in zip(shares, values, strict=True))
    return total / len(values), mean, squares / total + 1e-6


def density(x, mean, variance):
    exponent = -((x - mean) ** 2) / (2 * variance)
    return math.exp(exponent) / math.sqrt(2 * math.pi * variance)


@pytest.mark.parametrize("seed", range(5))
def test_estimate_equals_its_naive_twin(seed):
    rng = np.random.RandomState(seed)
    rate, distance = rng.uniform(0.1, 0.5), rng.uniform(2, 6)
    is_wrong = rng.uniform(size=300) < rate
    losses = rng.normal(5 + distance * is_wrong, 1 + 0.5 * is_wrong)
    expected = naive_noise_rate(losses.tolist())
    assert noise_rate_of_losses(losses) == pytest.approx(expected, abs=1e-3)


@given(
    n_small=st.integers(2, 40),
    n_large=st.integers(1, 40),
    scale=st.floats(1e-3, 1e3),
    seed=st.integers(0, 99),
)
def test_two_groups_that_are_far_apart_are_counted(n_small, n_large, scale, seed):
    rng = np.random.RandomState(seed)
    losses = np.concatenate([rng.uniform(0, 1, n_small), rng.uniform(99, 100, n_large)])
    found = noise_rate_of_losses(scale * rng.permutation(losses))
    assert found == pytest.approx(n_large / (n_small + n_large), abs=1e-6)


@pytest.mark.parametrize("losses", [[2.0], [0.3, 0.3, 0.3], [0.0, 0.0]])
def test_equal_losses_have_no_group_of_large_ones(losses):
    assert noise_rate_of_losses(np.array(losses)) == 0


visits = st.lists(
    st.dictionaries(st.integers(0, 5), st.floats(0, 9, width=32), min_size=1),
    min_size=1,
    max_size=6,
)


@given(visits=visits, n_networks=st.integers(1, 2))
def test_losses_are_added_up_over_visits(visits, n_networks):
    policy, totals = LearnFromAllAndEstimate(torch.zeros(6)), {}
    for visit in visits:
        index = torch.tensor(list(visit))
        # The mean over networks is that of the visit.
        losses = torch.tensor([list(visit.values())] * n_networks)
        losses = losses * torch.linspace(0.5, 1.5, n_networks + 2)[1:-1, None]
        zeros = torch.zeros(n_networks, len(visit), 2)
        assert policy.select(Batch(index, index * 0, zeros, losses, 0)).weights is None
        for i, loss in visit.items():
            totals[i] = totals.get(i, 0) + loss
    for i, total in enumerate(policy.total_losses.tolist()):
        assert total == pytest.approx(totals[i]) if i in totals else math.isnan(total)
    rate = policy.end_epoch()["estimated_noise_rate"]
    expected = noise_rate_of_losses(np.array(list(totals.values())))
    assert rate == pytest.approx(expected, abs=1e-2)


def softmax(row):
    exponentials = [math.exp(z - max(row)) for z in row]
    return [e / sum(exponentials) for e in exponentials]


rows = st.lists(st.floats(-5, 5, width=32), min_size=3, max_size=3)


@given(
    drawn=st.lists(
        st.tuples(rows, rows, st.integers(0, 2), st.floats(0, 3), st.integers(1, 4)),
        min_size=1,
        max_size=6,
    ),
    is_weighted=st.booleans(),
    weight=st.floats(0, 10),
)
def test_the_loss_of_a_batch_equals_its_naive_twin(drawn, is_weighted, weight):
    logits, others, labels, losses, weights = zip(*drawn, strict=True)
    if not is_weighted:
        weights = [1] * len(drawn)
    n, index = len(drawn), torch.arange(len(drawn))
    batch = Batch(
        index,
        torch.tensor(labels),
        torch.tensor([logits]),
        torch.tensor([losses]),
        7,
        view=lambda change: change(torch.tensor([others])),
    )
    history = PredictionHistory(n, 3, 2)
    history.expect([index])
    history.record(batch)
    given_weights = torch.tensor(weights).float() if is_weighted else None
    policy = LearnSafeSetAndConsistency(
        history, Augment(lambda view: view), lambda epoch: weight * epoch, given_weights
    )
    selection = policy.select(batch)
    assert selection.weights is None
    found = selection.objective(batch.logits, batch.losses)[0].tolist()
    of_batch = sum(w * x for w, x in zip(weights, found, strict=True)) / sum(weights)

    safe = [
        i for i in range(n) if max(range(3), key=lambda k: logits[i][k]) == labels[i]
    ]
    of_safe = sum(weights[i] for i in safe)
    expected = sum(weights[i] * losses[i] for i in safe) / of_safe if safe else 0.0
    distance = 0.0
    for i in range(n):
        pairs = zip(softmax(logits[i]), softmax(others[i]), strict=True)
        distance += weights[i] * sum((p - q) ** 2 for p, q in pairs)
    expected += 7 * weight * distance / sum(weights)
    assert of_batch == pytest.approx(expected, rel=1e-4, abs=1e-5)


def test_ramp_by_hand():
    assert ramp_up(0) == pytest.approx(math.exp(-5))
    assert ramp_up(0.5) == pytest.approx(math.exp(-1.25))
    assert ramp_up(1) == ramp_up(3) == 1
