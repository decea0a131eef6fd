import copy

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from skpresto._data.batch import Batch
from skpresto._methods.learning_to_reweight import (
    ReweightByCleanGradient,
    derivatives_along,
    derivatives_one_by_one,
)
from skpresto.exceptions import FallbackWarning

LOSS = nn.CrossEntropyLoss(reduction="none")


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.recurrent = nn.GRU(2, 5, batch_first=True)
        self.last = nn.Linear(5, 3)

    def forward(self, X):
        return self.last(self.recurrent(X.view(len(X), -1, 2))[0][:, -1])


class FreeOfUse(nn.Module):
    """Has a parameter that no output depends on."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 3)
        self.unused = nn.Parameter(torch.ones(2))

    def forward(self, X):
        return self.layer(X)


MODULES = {
    "linear": lambda: nn.Linear(4, 3),
    "batch norm and dropout": lambda: nn.Sequential(
        nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Dropout(0.3), nn.Linear(8, 3)
    ),
    "layer norm": lambda: nn.Sequential(
        nn.LayerNorm(4), nn.Linear(4, 6), nn.GELU(), nn.Linear(6, 3)
    ),
    "convolutions": lambda: nn.Sequential(
        nn.Unflatten(1, (1, 4)),
        nn.Conv1d(1, 3, 2),
        nn.BatchNorm1d(3),
        nn.SiLU(),
        nn.MaxPool1d(2),
        nn.Flatten(),
        nn.Linear(3, 3),
    ),
    "recurrent": Recurrent,
    "unused parameter": FreeOfUse,
}


@pytest.mark.parametrize("name", MODULES)
def test_products_equal_those_of_single_gradients(name):
    torch.manual_seed(0)
    module = MODULES[name]().train()
    X, y = torch.randn(9, 4), torch.arange(9) % 3
    losses = LOSS(module(X), y)
    parameters = list(module.parameters())
    direction = [torch.randn_like(p) for p in parameters]
    fast = derivatives_along(losses, parameters, direction)
    slow = derivatives_one_by_one(losses, parameters, direction)
    torch.testing.assert_close(fast, slow, rtol=1e-4, atol=1e-5)
    losses.sum().backward()  # the graph is still there


def test_weights_by_hand():
    """One parameter t, losses t * x, and the gradient -2 of a clean loss."""
    t = torch.tensor(1.0, requires_grad=True)
    slopes = torch.tensor([[-1.0, 2.0, -3.0, 0.0]])
    policy = ReweightByCleanGradient(lambda: ([t], [torch.tensor(-2.0)]))
    batch = Batch(torch.arange(4), torch.zeros(4).long(), slopes, t * slopes, 0)
    assert policy.select(batch).weights.tolist() == [[0.25, 0.0, 0.75, 0.0]]
    opposite = ReweightByCleanGradient(lambda: ([t], [torch.tensor(2.0)]))
    assert opposite.select(batch).weights.tolist() == [[0.0, 1.0, 0.0, 0.0]]
    nothing = ReweightByCleanGradient(lambda: ([t], [torch.tensor(0.0)]))
    assert not nothing.select(batch).weights.any()


def naive_weights(module, X, y, X_val, y_val, step):
    """Return weights by the definition: reweight, step, and look at the clean loss.

    The derivative of the clean loss after a small step on one sample alone, by
    differences in double precision.
    """
    decreases = []
    for i in range(len(X)):
        clean = []
        for sign in (-1, 1):
            stepped = copy.deepcopy(module)
            LOSS(stepped(X[i : i + 1]), y[i : i + 1]).sum().backward()
            with torch.no_grad():
                for p in stepped.parameters():
                    p -= sign * step * p.grad
                clean.append(LOSS(stepped(X_val), y_val).mean().item())
        decreases.append((clean[0] - clean[1]) / (2 * step))
    positive = [max(0.0, u) for u in decreases]
    total = sum(positive)
    return [u / total if total else 0.0 for u in positive]


@given(seed=st.integers(0, 10_000))
def test_weights_equal_their_naive_twin(seed):
    torch.manual_seed(seed)
    module = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 3)).double()
    X, X_val = torch.randn(5, 3).double(), torch.randn(4, 3).double()
    y, y_val = torch.randint(3, (5,)), torch.randint(3, (4,))
    parameters = list(module.parameters())
    gradient = torch.autograd.grad(LOSS(module(X_val), y_val).mean(), parameters)
    policy = ReweightByCleanGradient(lambda: (parameters, list(gradient)))
    logits = module(X).unsqueeze(0)
    losses = LOSS(logits[0], y).unsqueeze(0)
    weights = policy.select(Batch(torch.arange(5), y, logits, losses, 0)).weights[0]
    expected = naive_weights(module, X, y, X_val, y_val, step=1e-5)
    assert weights.tolist() == pytest.approx(expected, abs=1e-5)


class Once(torch.autograd.Function):
    """The identity, with a first derivative only."""

    @staticmethod
    def forward(ctx, X):
        return X.clone()

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, gradient):
        return gradient


class Attention(nn.Module):
    """Attention, whose fused kernel has no second derivatives on the CPU."""

    def __init__(self):
        super().__init__()
        self.layer = nn.TransformerEncoderLayer(4, 2, 8, dropout=0, batch_first=True)
        self.last = nn.Linear(4, 3)

    def forward(self, X):
        return self.last(self.layer(torch.stack((X, X**2), dim=1)).mean(dim=1))


class OnceInBetween(nn.Sequential):
    """An operation that is left out of second derivatives, without an error."""

    def __init__(self):
        super().__init__(nn.Linear(4, 5), nn.Linear(5, 3))

    def forward(self, X):
        return self[1](Once.apply(self[0](X)))


class OnceAtTheEnd(nn.Linear):
    def __init__(self):
        super().__init__(4, 3)

    def forward(self, X):
        return Once.apply(super().forward(X))


@pytest.mark.parametrize(
    ("module", "reason"),
    [
        (Attention, "not implemented"),
        (OnceInBetween, "do not add up"),
        (OnceAtTheEnd, "not have been used"),
    ],
)
def test_operations_without_second_derivatives_go_sample_by_sample(module, reason):
    torch.manual_seed(0)
    network, X, y = module(), torch.randn(6, 4), torch.arange(6) % 3
    parameters = list(network.parameters())
    direction = [torch.randn_like(p) for p in parameters]
    policy = ReweightByCleanGradient(lambda: (parameters, direction))

    def weights():
        logits = network(X).unsqueeze(0)
        losses = LOSS(logits[0], y).unsqueeze(0)
        return policy.select(Batch(torch.arange(6), y, logits, losses, 0)).weights[0]

    with pytest.warns(FallbackWarning, match=f"no second derivatives .*{reason}"):
        first = weights()
    expected = torch.stack(
        [
            sum(
                (g * d).sum()
                for g, d in zip(
                    torch.autograd.grad(loss, parameters, allow_unused=True),
                    direction,
                    strict=True,
                )
                if g is not None
            )
            for loss in (LOSS(network(X[[i]]), y[[i]]) for i in range(6))
        ]
    ).clamp(min=0)
    torch.testing.assert_close(first, expected / expected.sum())
    torch.testing.assert_close(weights(), first)  # without a further warning
