"""SOP's noise and loss, by hand and by loops."""

import math

import pytest
import torch
from hypothesis import assume, given
from hypothesis import strategies as st

from skpresto._data.batch import Batch
from skpresto._methods.sop import SparseOverparameterization


def cross_entropy(logits, labels):
    n_classes = logits.shape[-1]
    labels = labels.expand(logits.shape[:-1])
    return torch.nn.functional.cross_entropy(
        logits.reshape(-1, n_classes), labels.flatten(), reduction="none"
    )


def policy_of(u, v, lr_u=10.0, lr_v=10.0):
    """Return a policy with these numbers in the place of those drawn."""
    policy = SparseOverparameterization(len(u), len(v[0]), lr_u, lr_v, cross_entropy)
    policy.u.copy_(torch.tensor(u).unsqueeze(1))
    policy.v.copy_(torch.tensor(v))
    return policy


def batch_of(logits, labels, index):
    logits = torch.tensor([logits], dtype=torch.float32)
    labels = torch.tensor(labels)
    losses = cross_entropy(logits, labels).unsqueeze(0)
    return Batch(torch.tensor(index), labels, logits, losses, epoch=0)


def test_noise_and_loss_by_hand():
    """Class 1 is given, class 0 predicted with 3/4; u = v = 1/2."""
    policy = policy_of([9.0, 0.5], [[9.0, 9.0], [0.5, 9.0]], lr_u=0.1, lr_v=0.2)
    batch = batch_of([[math.log(3), 0.0]], [1], [1])
    objective = policy.select(batch).objective
    # 3/4 - 1/4 and 1/4 + 1/4 are equal, and sum to 1.
    loss = objective(batch.logits, batch.losses)
    assert loss.tolist() == [[pytest.approx(math.log(2))]]
    # Of u: 2 u (1 / 1 - 1 / 0.5 + 2 (0 + 1/4 - 1)); of v: 2 v (-2 (1 - 1/4)).
    assert policy.u[1].item() == pytest.approx(0.5 + 0.1 * 2.5)
    assert policy.v[1].tolist() == pytest.approx([0.5 + 0.2 * 1.5, 9.0])
    assert policy.u[0].item() == 9.0  # of another sample


def naive_loss(z, y, u, v):
    """Return both terms of the loss of a sample, as the release computes them."""
    exponentials = [math.exp(x - max(z)) for x in z]
    p = [e / sum(exponentials) for e in exponentials]
    classes = range(len(z))
    top = max(classes, key=lambda k: z[k])
    given_noise = torch.clamp(u**2, 0, 1)
    other_noise = [torch.clamp(v[k] ** 2, 0, 1) for k in classes]
    explained = []
    distance = 0
    for k in classes:
        is_given, is_top = float(k == y), float(k == top)
        U, V = given_noise * is_given, other_noise[k] * (1 - is_given)
        explained.append(torch.clamp(p[k] + U - V.detach(), min=1e-4))
        distance = distance + (is_top + U - V - is_given) ** 2
    return -torch.log(explained[y] / sum(explained)), distance


def is_far_from_its_least(z, y, u, v):
    """Return whether no sum of probability and noise is where its slope ends."""
    total = sum(map(math.exp, z))
    sums = [
        math.exp(z[k]) / total + (min(u**2, 1) if k == y else -min(v[k] ** 2, 1))
        for k in range(len(z))
    ]
    return all(abs(x - 1e-4) > 1e-5 for x in sums)


def is_clear(row):
    """Return whether it does not depend on rounding which class is predicted."""
    return sorted(row)[-1] - sorted(row)[-2] > 1e-3


rows = st.lists(st.floats(-6, 6, width=32), min_size=3, max_size=3).filter(is_clear)
# Where a square is 1, its slope depends on rounding.
noise = st.floats(-1.5, 1.5, width=32).filter(lambda x: abs(x * x - 1) > 1e-3)


@given(
    visits=st.lists(st.tuples(rows, st.integers(0, 2)), min_size=1, max_size=4),
    u=st.lists(noise, min_size=4, max_size=4),
    v=st.lists(st.lists(noise, min_size=3, max_size=3), min_size=4, max_size=4),
    lr_u=st.floats(0, 10),
    lr_v=st.floats(0, 10),
)
def test_policy_equals_its_naive_twin(visits, u, v, lr_u, lr_v):
    policy = policy_of(u, v, lr_u, lr_v)
    logits, labels = map(list, zip(*visits, strict=True))
    batch = batch_of(logits, labels, list(range(len(visits))))
    found = policy.select(batch).objective(batch.logits, batch.losses)
    for i, (z, y) in enumerate(visits):
        own = torch.tensor(u[i], dtype=torch.float64, requires_grad=True)
        others = torch.tensor(v[i], dtype=torch.float64, requires_grad=True)
        entropy, distance = naive_loss(z, y, own, others)
        assume(is_far_from_its_least(z, y, u[i], v[i]))
        assert found[0, i].item() == pytest.approx(entropy.item(), rel=1e-3, abs=1e-4)
        by_u, by_v = torch.autograd.grad(
            (entropy + distance) / len(visits), (own, others)
        )
        expected = u[i] - lr_u * by_u.item()
        assert policy.u[i].item() == pytest.approx(expected, rel=1e-3, abs=1e-3)
        expected = (others.detach() - lr_v * by_v).tolist()
        assert policy.v[i].tolist() == pytest.approx(expected, rel=1e-3, abs=1e-3)


def test_noise_of_a_contradicted_label_grows_and_explains_it():
    torch.manual_seed(0)
    policy = SparseOverparameterization(2, 3, 10.0, 10.0, cross_entropy)
    batch = batch_of([[4.0, 0.0, 0.0], [4.0, 0.0, 0.0]], [0, 1], [0, 1])
    for _ in range(40):
        objective = policy.select(batch).objective
    noise = policy.u.square().squeeze(1)
    assert noise[0] < 1e-3
    assert noise[1] > 0.5
    right, wrong = objective(batch.logits, batch.losses)[0]
    assert wrong < batch.losses[0, 1] / 3
    assert right == pytest.approx(batch.losses[0, 0].item(), rel=1e-3)


def test_gradients_reach_the_network_through_the_probabilities_alone():
    policy = policy_of([0.5], [[0.5, 0.5]])
    batch = batch_of([[1.0, -1.0]], [1], [0])
    logits = batch.logits.clone().requires_grad_()
    policy.select(batch).objective(logits, batch.losses).sum().backward()
    z = torch.tensor([1.0, -1.0], requires_grad=True)
    p = torch.softmax(z, dim=0)
    (-torch.log((p[1] + 0.25) / (p[0] - 0.25 + p[1] + 0.25))).backward()
    torch.testing.assert_close(logits.grad[0, 0], z.grad)
