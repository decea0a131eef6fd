"""MentorNet's predefined curriculum, by hand and by loops."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from skpresto._data.batch import Batch
from skpresto._methods.mentornet import PredefinedCurriculum, percentile_of


def policy_of(n_epochs=100, **params):
    settings = {"percentile": 70, "decay": 0.5, "warm_up": 18, "dropout": (0.0, 0.0)}
    return PredefinedCurriculum(20, n_epochs, **{**settings, "seed": 0, **params})


def batch_of(losses, epoch):
    n = len(losses)
    losses = torch.tensor([losses], dtype=torch.float32)
    logits = torch.zeros(1, n, 2)
    return Batch(torch.arange(n), torch.zeros(n).long(), logits, losses, epoch)


@pytest.mark.parametrize(
    ("epoch", "expected"),
    [
        (0, [1, 1, 1, 1, 1]),
        (17, [1, 1, 1, 1, 1]),
        (18, [1, 1, 1, 0, 0]),  # the threshold is the percentile, 2.8
        (89, [1, 1, 1, 0, 0]),
        (90, [1, 1, 1, 0.8, 0]),  # 1 - (3 - 2.8)
        (99, [1, 1, 1, 0.8, 0]),
    ],
)
def test_weights_by_hand(epoch, expected):
    policy = policy_of()
    selection = policy.select(batch_of([0.0, 1.0, 2.0, 3.0, 4.0], epoch))
    assert policy.threshold.item() == pytest.approx(2.8)
    assert selection.weights[0].tolist() == pytest.approx(expected)
    assert policy.selected[:5].tolist() == [True, True, True, False, False]
    # The engine divides by the sum of the weights, the method by their number.
    losses = selection.objective(torch.zeros(1, 5, 2), torch.ones(1, 5))
    mean = (losses * selection.weights).sum() / selection.weights.sum()
    assert mean.item() == pytest.approx(sum(expected) / 5)


@pytest.mark.parametrize(("epoch", "n_kept"), [(0, 5), (17, 5), (18, 9), (99, 9)])
def test_some_samples_are_dropped_at_random(epoch, n_kept):
    policy = policy_of(dropout=(0.5, 0.1), percentile=100, decay=0.0)
    counts = torch.zeros(10)
    for _ in range(100):
        weights = policy.select(batch_of([1.0] * 10, epoch)).weights[0]
        assert weights.sum() == n_kept
        counts += weights
    assert counts.min() > 0.5 * counts.mean()


def test_a_single_sample_is_never_dropped():
    policy = policy_of(dropout=(0.99, 0.99))
    assert policy.select(batch_of([1.0], 0)).weights.item() == 1


losses = st.lists(st.floats(0, 5, width=32), min_size=1, max_size=10)


@given(
    batches=st.lists(st.tuples(losses, st.integers(0, 99)), min_size=1, max_size=5),
    percentile=st.integers(0, 100),
    decay=st.floats(0, 0.9),
)
def test_policy_equals_its_naive_twin(batches, percentile, decay):
    policy = policy_of(percentile=percentile, decay=decay)
    threshold = None
    for values, epoch in batches:
        selection = policy.select(batch_of(values, epoch))
        level = np.percentile(values, percentile)
        before = level if threshold is None else threshold
        threshold = decay * before + (1 - decay) * level
        assert policy.threshold.item() == pytest.approx(threshold, rel=1e-4, abs=1e-5)
        cut = policy.threshold.item()
        expected = []
        for loss in values:
            weight = float(loss <= cut)
            if epoch < 18:
                weight = 1.0
            elif epoch >= 90 and loss > cut:
                weight = max(0.0, 1 - (loss - cut))
            expected.append(weight)
        weights = selection.weights[0].tolist()
        assert weights == pytest.approx(expected, abs=1e-5)
        easy = [loss <= cut for loss in values]
        assert policy.selected[: len(values)].tolist() == easy


@given(
    values=st.lists(st.floats(0, 100, width=32), min_size=1, max_size=300),
    percentile=st.floats(0, 100),
)
def test_percentiles_are_those_of_torch(values, percentile):
    losses = torch.tensor(values)
    expected = torch.quantile(losses, percentile / 100)
    assert torch.equal(percentile_of(losses, percentile), expected)
