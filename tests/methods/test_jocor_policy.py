"""JoCoR's joint loss and selection, by hand and by loops."""

import copy
import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from skpresto._data.batch import Batch
from skpresto._methods.jocor import JointSmallLoss
from skpresto._training.stage import Stage
from skpresto.modules import MLP


def test_joint_loss_by_hand():
    """Probabilities (3/4, 1/4) and (1/4, 3/4): both divergences are ln(3) / 2."""
    policy = JointSmallLoss(1, 0.0, 1, co_regularization=0.9)
    logits = torch.tensor([[[math.log(3), 0.0]], [[0.0, math.log(3)]]])
    batch = Batch(
        torch.tensor([0]), torch.tensor([0]), logits, torch.tensor([[0.2], [0.6]]), 0
    )
    selection = policy.select(batch)
    losses = selection.objective(logits, batch.losses)
    joint = 0.1 * (0.2 + 0.6) + 0.9 * math.log(3)
    assert losses.flatten().tolist() == pytest.approx([joint / 2] * 2)
    assert selection.weights.tolist() == [[1.0], [1.0]]


def naive_joint(p, q, first, second, w):
    divergence = sum(a * math.log(a / b) for a, b in zip(p, q, strict=True))
    divergence += sum(b * math.log(b / a) for a, b in zip(p, q, strict=True))
    return (1 - w) * (first + second) + w * divergence


@st.composite
def batches(draw):
    n = draw(st.integers(1, 8))
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(draw(st.integers(0, 999)))
        logits, losses = torch.randn(2, n, 3), torch.rand(2, n)
        index = torch.randperm(12)[:n]
    labels = torch.zeros(n, dtype=torch.long)
    return Batch(index, labels, logits, losses, draw(st.integers(0, 12)))


@given(
    batch=batches(),
    rate=st.floats(0, 0.95),
    ramp=st.integers(0, 10),
    w=st.sampled_from([0.0, 0.5, 0.9, 1.0]),
)
def test_policy_equals_its_naive_twin(batch, rate, ramp, w):
    policy = JointSmallLoss(12, rate, ramp, w)
    selection = policy.select(batch)
    first, second = batch.logits.softmax(dim=2).tolist()
    joint = [
        naive_joint(p, q, *losses, w)
        for p, q, losses in zip(first, second, batch.losses.t().tolist(), strict=True)
    ]
    n = len(joint)
    forget = rate * min(1, (batch.epoch + 1) / max(1, ramp))
    keep = max(1, int((1 - forget) * n + 1e-9))
    kept = sorted(range(n), key=lambda i: joint[i])[:keep]
    expected = [float(i in kept) for i in range(n)]
    assert selection.weights.tolist() == [expected, expected]
    assert policy.selected[batch.index].float().tolist() == expected
    losses = selection.objective(batch.logits, batch.losses)
    for row in losses.tolist():
        assert row == pytest.approx([loss / 2 for loss in joint], rel=1e-3, abs=1e-5)


def test_two_networks_equal_two_trained_by_one_optimizer(make_trainer):
    """A hand-written loop with the mean joint loss of the selected samples."""
    params = {"module": MLP, "module__hidden": (8,), "module__dropout": 0.0}
    trainer = make_trainer(n_networks=2, batch_size=80, **params)
    twins = nn.ModuleList(copy.deepcopy(trainer.net.networks)).train()
    X, y = torch.as_tensor(trainer.data.X.source), trainer.data.labels
    state = torch.get_rng_state()
    order = [(e, rows) for e in range(3) for rows in torch.randperm(400).split(80)]
    torch.set_rng_state(state)
    trainer.run(Stage("train", JointSmallLoss(400, 0.3, 2, 0.9), 3))
    optimizer = torch.optim.SGD(twins.parameters(), lr=0.1, momentum=0.9)
    for epoch, rows in order:
        log_p = [twin(X[rows]).log_softmax(dim=1) for twin in twins]
        losses = sum(
            nn.functional.nll_loss(z, y[rows], reduction="none") for z in log_p
        )
        for a, b in (log_p, log_p[::-1]):
            kl = nn.functional.kl_div(a, b, log_target=True, reduction="none")
            losses = losses + 9 * kl.sum(dim=1)
        losses = losses / 10
        keep = int((1 - 0.3 * min(1, (epoch + 1) / 2)) * len(rows) + 1e-9)
        optimizer.zero_grad()
        losses[losses.detach().argsort()[:keep]].mean().backward()
        optimizer.step()
    for network, twin in zip(trainer.net.networks, twins, strict=True):
        for name, value in network.state_dict().items():
            torch.testing.assert_close(
                value, twin.state_dict()[name], rtol=1e-3, atol=1e-5
            )


@pytest.mark.parametrize("size", [1e4, 1e30, torch.inf])
def test_certain_networks_have_a_finite_loss(size):
    logits = torch.tensor([[[0.0, -size]], [[0.0, -size]]], requires_grad=True)
    policy = JointSmallLoss(1, 0.0, 1, 0.9)
    policy._joint_losses(logits, torch.zeros(2, 1)).sum().backward()
    assert torch.isfinite(logits.grad).all()
