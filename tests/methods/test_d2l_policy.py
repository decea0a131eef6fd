import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn.functional import cross_entropy

from skpresto._data.batch import Batch
from skpresto._methods._dimensionality import local_dimensionality
from skpresto._methods.d2l import MixLabelsByDimensionality


def naive_dimensionality(points, k):
    """Return the mean estimate, by loops over samples and neighbors."""
    estimates = []
    k = min(k, len(points) - 1)
    for i, point in enumerate(points):
        others = [p for j, p in enumerate(points) if j != i]
        nearest = sorted(math.dist(point, other) for other in others)[:k]
        if nearest[-1] == 0:
            continue
        total = sum(math.log(d / nearest[-1] + 1e-8) for d in nearest)
        if -k / total > 0:
            estimates.append(-k / total)
    return np.mean(estimates) if estimates else math.nan


coordinates = st.integers(-8, 8).map(float)


@given(
    points=st.lists(st.tuples(coordinates, coordinates), min_size=2, max_size=12),
    k=st.integers(2, 6),
)
def test_dimensionality_equals_its_naive_twin(points, k):
    ours = local_dimensionality(torch.tensor(points), k)
    assert ours == pytest.approx(naive_dimensionality(points, k), rel=1e-4, nan_ok=True)


def test_dimensionality_by_hand():
    # Distances of the points 0, 1 and 3: (1, 3), (1, 2) and (2, 3).
    by_hand = [2 / math.log(3), 2 / math.log(2), 2 / math.log(3 / 2)]
    points = torch.tensor([[0.0], [1.0], [3.0]])
    assert local_dimensionality(points, 2) == pytest.approx(np.mean(by_hand), rel=1e-6)


def test_dimensionality_is_about_that_of_the_space():
    points = torch.from_numpy(np.random.RandomState(0).uniform(size=(2000, 3)))
    assert local_dimensionality(points, 20) == pytest.approx(3, abs=0.3)


def test_equal_samples_have_no_dimensionality():
    assert math.isnan(local_dimensionality(torch.ones(9, 2), 4))


def naive_pace(measured, n_epochs, warm_up, window):
    """Return the turning point, and the weight of labels after each epoch."""
    values, turning, alphas = [], None, []
    for e, value in enumerate(measured, start=1):
        if value > 0:
            values.append(value)
        elif values:
            values.append(values[-1])
        else:
            alphas.append(1.0)
            continue
        before = values[:-1]
        if turning is None and len(before) >= warm_up + window:
            last = before[-window:]
            mean = sum(last) / window
            deviation = math.sqrt(sum((v - mean) ** 2 for v in last) / window)
            if values[-1] > mean + 2 * deviation:
                turning = e
        growth = values[-1] / min(values)
        alphas.append(1.0 if turning is None else math.exp(-e / n_epochs * growth))
    return turning, alphas


@given(
    measured=st.lists(
        st.sampled_from([math.nan, -1.0, 2.0, 2.125, 2.25, 3.0, 4.0]),
        min_size=1,
        max_size=20,
    ),
    warm_up=st.integers(0, 4),
    window=st.integers(2, 4),
)
def test_pace_equals_its_naive_twin(measured, warm_up, window):
    waiting = iter(measured)
    policy = MixLabelsByDimensionality(
        lambda: next(waiting), cross_entropy, 30, warm_up, window
    )
    alphas = []
    for value in measured:
        summary = policy.end_epoch()
        assert summary == {"dimensionality": value if value > 0 else None}
        alphas.append(policy.alpha)
    turning, expected = naive_pace(measured, 30, warm_up, window)
    assert policy.turning_epoch == turning
    assert alphas == pytest.approx(expected)


def test_weight_of_labels_by_hand():
    lids = iter([4.0, 2.0, 2.0, 2.0, 3.0, 4.0])
    losses_of = torch.nn.CrossEntropyLoss(reduction="none")
    policy = MixLabelsByDimensionality(lambda: next(lids), losses_of, 10, 2, 2)
    for _ in range(4):
        policy.end_epoch()
        assert policy.alpha == 1
    policy.end_epoch()
    assert policy.turning_epoch == 5
    assert policy.alpha == pytest.approx(math.exp(-5 / 10 * 3 / 2))
    policy.end_epoch()
    assert policy.alpha == pytest.approx(math.exp(-6 / 10 * 4 / 2))


def test_targets_are_mixtures_of_label_and_predicted_class():
    logits = torch.tensor([[[1.0, 3.0, 0.0], [0.5, 0.0, -1.0]]])
    labels = torch.tensor([0, 2])
    losses_of = torch.nn.CrossEntropyLoss(reduction="none")
    policy = MixLabelsByDimensionality(
        lambda: 1.0,
        lambda z, targets: losses_of(z.flatten(0, 1), targets.flatten()),
        10,
        0,
        2,
    )
    losses = losses_of(logits[0], labels).unsqueeze(0)
    batch = Batch(torch.arange(2), labels, logits, losses, 6)
    assert policy.select(batch).objective is None  # before the turning point
    policy.turning_epoch, policy.alpha = 5, 0.3
    mixed = policy.select(batch).objective(logits, losses)
    targets = torch.tensor([[0.3, 0.7, 0.0], [0.7, 0.0, 0.3]])
    expected = losses_of(logits[0], targets)
    torch.testing.assert_close(mixed[0], expected)
