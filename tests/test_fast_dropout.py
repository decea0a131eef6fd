import copy
import pickle

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional

from skpresto.modules import FastDropout


def dropped(p, shape, seed=0):
    dropout = FastDropout(p)
    dropout.generator = torch.Generator().manual_seed(seed)
    return dropout(torch.ones(shape)) == 0


@pytest.mark.parametrize("p", [0.01, 0.1, 0.5, 0.9])
def test_values_are_dropped_with_the_given_probability(p):
    n_values = 400_000
    for seed in (0, 1):
        fraction = dropped(p, n_values, seed).double().mean().item()
        assert abs(fraction - p) < 4 * np.sqrt(p * (1 - p) / n_values)


@pytest.mark.parametrize("p", [0.1, 0.5])
def test_values_are_dropped_independently_of_each_other(p):
    """Also of those whose bits come from the same 64, and of those in other rows."""
    is_dropped = dropped(p, (4000, 12)).double()
    expected = np.eye(12) * p * (1 - p)
    covariance = np.cov(is_dropped.numpy(), rowvar=False)
    assert np.abs(covariance - expected).max() < 5 * p * (1 - p) / np.sqrt(4000)
    between = (is_dropped[1:] * is_dropped[:-1]).mean().item()
    assert abs(between - p * p) < 5 * p / np.sqrt(12 * 3999)


def test_numbers_of_dropped_values_are_binomial():
    """As often 0, 1, 2, ... of twenty as of torch's dropout, by a chi-squared test."""
    expected = torch.distributions.Binomial(20, 0.1).log_prob(torch.arange(7.0)).exp()
    counts = torch.bincount(dropped(0.1, (20_000, 20)).sum(dim=1), minlength=7)[:7]
    expected = 20_000 * expected
    assert ((counts - expected) ** 2 / expected).sum() < 24  # p = 0.0005


@pytest.mark.parametrize("shape", [(), (1,), (3, 5), (2, 3, 4, 5), (0, 4)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_output_is_the_input_scaled_or_zero_and_the_gradient_alike(shape, dtype):
    X = torch.randn(shape, dtype=dtype, requires_grad=True)
    output = FastDropout(0.25)(X)
    assert output.dtype == dtype
    kept = torch.where(output == 0, 0, torch.tensor(1 / 0.75).to(dtype))
    assert torch.equal(output, X * kept)
    output.sum().backward()
    assert torch.equal(X.grad, kept)


@pytest.mark.parametrize("p", [0.0, 1e-9, 1.0])
def test_none_or_all_are_dropped_at_the_ends(p):
    assert torch.equal(FastDropout(p)(torch.ones(50)), torch.full((50,), p < 0.5) * 1.0)


def test_bits_follow_from_the_seed_of_torch_and_evaluation_draws_none():
    dropout, X = FastDropout(0.3), torch.ones(100)
    torch.manual_seed(3)
    first = dropout(X)
    state = torch.get_rng_state()
    assert dropout.eval()(X) is X
    assert torch.equal(torch.get_rng_state(), state)
    torch.manual_seed(3)
    again = copy.deepcopy(pickle.loads(pickle.dumps(dropout))).train()
    assert torch.equal(again(X), first)


def test_torch_drops_in_place_and_on_other_devices(monkeypatch):
    calls = []
    monkeypatch.setattr(functional, "dropout", lambda X, *args: calls.append(X))
    FastDropout(0.3, inplace=True)(torch.ones(3))
    FastDropout(0.3)(torch.ones(3, device="meta"))
    assert [X.device.type for X in calls] == ["cpu", "meta"]


def test_it_is_a_dropout_of_torch_with_its_checks():
    assert isinstance(FastDropout(), nn.Dropout)
    with pytest.raises(ValueError, match="probability"):
        FastDropout(1.5)
