"""Decouple's selection and the size of its steps."""

import copy

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from skpresto._data.batch import Batch
from skpresto._methods.decouple import UpdateOnDisagreement
from skpresto._training.stage import Stage
from skpresto.modules import MLP


def batch_of(predicted, epoch=0):
    predicted = torch.tensor(predicted)
    n = predicted.shape[1]
    logits = nn.functional.one_hot(predicted, 3).float()
    losses = torch.arange(2.0 * n).view(2, n)
    return Batch(torch.arange(n), predicted[0], logits, losses, epoch)


@pytest.mark.parametrize(
    ("n_disagree", "divisor"), [(1, 4), (3, 4), (4, 4), (5, 5), (40, 40)]
)
def test_the_loss_is_divided_by_at_least_a_tenth_of_the_batch(n_disagree, divisor):
    first = [0] * 40
    second = [1] * n_disagree + [0] * (40 - n_disagree)
    batch = batch_of([first, second])
    selection = UpdateOnDisagreement(0).select(batch)
    losses = selection.objective(batch.logits, batch.losses)
    for k in range(2):  # the engine divides by the sum of the weights
        weights = selection.weights[k]
        mean = (losses[k] * weights).sum() / weights.sum()
        expected = batch.losses[k, :n_disagree].sum() / divisor
        torch.testing.assert_close(mean, expected)


predictions = st.integers(1, 30).flatmap(
    lambda n: st.lists(
        st.lists(st.integers(0, 2), min_size=n, max_size=n), min_size=2, max_size=2
    )
)


@given(predicted=predictions, epoch=st.integers(0, 3), warm_up=st.integers(0, 3))
def test_policy_equals_its_naive_twin(predicted, epoch, warm_up):
    policy = UpdateOnDisagreement(warm_up)
    batch = batch_of(predicted, epoch)
    selection = policy.select(batch)
    differs = [float(a != b) for a, b in zip(*predicted, strict=True)]
    fraction = sum(differs) / len(differs)
    summary = policy.end_epoch()
    assert summary["disagreement_fraction"] == pytest.approx(fraction)
    if epoch < warm_up:
        assert selection == (None, None, None)
        return
    assert selection.weights.tolist() == [differs, differs]
    losses = selection.objective(batch.logits, batch.losses)
    scale = min(1, sum(differs) / (0.1 * len(differs)))
    torch.testing.assert_close(losses, batch.losses * scale)


def test_two_networks_equal_two_trained_in_plain_torch(make_trainer):
    params = {"module": MLP, "module__hidden": (8,), "module__dropout": 0.0}
    trainer = make_trainer(n_networks=2, batch_size=80, **params)
    twins = nn.ModuleList(copy.deepcopy(trainer.net.networks)).train()
    X, y = torch.as_tensor(trainer.data.X.source), trainer.data.labels
    state = torch.get_rng_state()
    order = [rows for _ in range(3) for rows in torch.randperm(400).split(80)]
    torch.set_rng_state(state)
    trainer.run(Stage("train", UpdateOnDisagreement(1), 3))
    optimizer = torch.optim.SGD(twins.parameters(), lr=0.1, momentum=0.9)
    for step, rows in enumerate(order):
        outputs = [twin(X[rows]) for twin in twins]
        differs = outputs[0].argmax(dim=1) != outputs[1].argmax(dim=1)
        weights = torch.ones(80) if step < 5 else differs.float()
        assert weights.sum() > 0
        optimizer.zero_grad()
        for output in outputs:
            losses = nn.functional.cross_entropy(output, y[rows], reduction="none")
            ((losses * weights).sum() / weights.sum().clamp(min=8)).backward()
        optimizer.step()
    for network, twin in zip(trainer.net.networks, twins, strict=True):
        for name, value in network.state_dict().items():
            torch.testing.assert_close(
                value, twin.state_dict()[name], rtol=1e-3, atol=1e-5
            )
