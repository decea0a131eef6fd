"""ELR's targets and loss, by hand and by loops."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from skpresto._data.batch import Batch
from skpresto._methods.elr import EarlyLearningRegularization


def batch_of(logits, index, epoch=0):
    logits = torch.tensor([logits], dtype=torch.float32)
    n = logits.shape[1]
    losses = torch.arange(n, dtype=torch.float32).unsqueeze(0)
    labels = torch.zeros(n, dtype=torch.long)
    return Batch(torch.tensor(index), labels, logits, losses, epoch)


def test_targets_and_loss_by_hand():
    """Probabilities of 3/4 and 1/4, twice, with beta 1/2 and a weight of 2."""
    policy = EarlyLearningRegularization(3, 2, regularization=2.0, beta=0.5)
    batch = batch_of([[math.log(3), 0.0]], [1])
    for target in (0.5, 0.75):  # the sum of the target: 1 - beta ** visits
        selection = policy.select(batch)
        assert selection.weights is None
        assert selection.targets is None
        expected = [[0, 0], [0.75 * target, 0.25 * target], [0, 0]]
        torch.testing.assert_close(policy.targets, torch.tensor(expected))
        agreement = target * (0.75**2 + 0.25**2)
        loss = selection.objective(batch.logits, torch.tensor([[0.3]]))
        assert loss.item() == pytest.approx(0.3 + 2 * math.log(1 - agreement))


def softmax(row):
    exponentials = [math.exp(z - max(row)) for z in row]
    return [e / sum(exponentials) for e in exponentials]


def naive_visit(targets, i, row, beta):
    """Update the target of a sample in a list, and return its probabilities."""
    p = softmax(row)
    clamped = [min(max(x, 1e-4), 1 - 1e-4) for x in p]
    total = sum(clamped)
    targets[i] = [
        beta * t + (1 - beta) * c / total
        for t, c in zip(targets[i], clamped, strict=True)
    ]
    return p


rows = st.lists(st.floats(-15, 15, width=32), min_size=3, max_size=3)
visits = st.lists(
    st.dictionaries(st.integers(0, 4), rows, min_size=1, max_size=4),
    min_size=1,
    max_size=4,
)


@given(visits=visits, beta=st.floats(0, 0.99), weight=st.floats(0, 10))
def test_policy_equals_its_naive_twin(visits, beta, weight):
    policy = EarlyLearningRegularization(5, 3, weight, beta)
    targets = [[0.0] * 3 for _ in range(5)]
    for visit in visits:
        batch = batch_of(list(visit.values()), list(visit))
        losses = policy.select(batch).objective(batch.logits, batch.losses)
        expected = []
        for position, (i, row) in enumerate(visit.items()):
            p = naive_visit(targets, i, row, beta)
            agreement = sum(t * x for t, x in zip(targets[i], p, strict=True))
            expected.append(position + weight * math.log(1 - agreement))
        assert losses[0].tolist() == pytest.approx(expected, rel=1e-3, abs=1e-3)
    torch.testing.assert_close(
        policy.targets, torch.tensor(targets), rtol=1e-4, atol=1e-6
    )


def test_no_gradient_flows_through_the_target():
    policy = EarlyLearningRegularization(1, 2, regularization=1.0, beta=0.5)
    logits = torch.tensor([[[1.0, -1.0]]], requires_grad=True)
    batch = batch_of([[1.0, -1.0]], [0])
    objective = policy.select(batch).objective
    objective(logits, torch.zeros(1, 1)).sum().backward()
    p = torch.softmax(logits.detach()[0, 0], dim=0)
    t = 0.5 * p
    inner = (t * p).sum()
    expected = -(p * (t - inner)) / (1 - inner)
    torch.testing.assert_close(logits.grad[0, 0], expected)


@pytest.mark.parametrize("size", [1e3, 1e30])
def test_certain_predictions_have_a_finite_loss(size):
    policy = EarlyLearningRegularization(1, 3, regularization=3.0, beta=0.9)
    batch = batch_of([[size, -size, 0.0]], [0])
    logits = batch.logits.clone().requires_grad_()
    for _ in range(200):
        objective = policy.select(batch).objective
    loss = objective(logits, torch.zeros(1, 1)).sum()
    loss.backward()
    assert 3 * math.log(1e-4) - 1 < loss.item() < 0
    assert torch.isfinite(logits.grad).all()
