"""A step of several processes is that of one."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from skpresto._parallel.shares import share_of
from tests.parallel import policies


def check(group, policy, **params):
    expected = policies.train(policy, is_parallel=False, **params)
    for found in group.results(_train, policy, params):
        assert found.keys() == expected.keys()
        for name, value in expected.items():
            torch.testing.assert_close(
                found[name], value, rtol=1e-12, atol=1e-12, equal_nan=True, msg=name
            )
    return expected


def _train(policy, params):
    return policies.train(policy, **params)


@pytest.mark.parametrize("n_networks", [1, 2])
@pytest.mark.parametrize("policy", sorted(policies.SELECTIONS))
def test_every_kind_of_selection(policy, n_networks, pair):
    check(pair, policy, n_networks=n_networks)


@pytest.mark.parametrize(
    "policy", ["first_half", "sometimes_nothing", "one_network", "second_view"]
)
def test_selections_that_are_empty_for_some(policy, trio):
    expected = check(trio, policy, n_networks=2)
    assert (expected["skipped"].sum() > 0) == (policy == "sometimes_nothing")


def test_a_criterion_with_parameters(pair):
    expected = check(pair, "first_half", criterion=policies.ScaledLoss)
    assert expected["1.scale"] != 1


def test_constants_and_unused_parameters_stay_as_they_are(pair):
    params = {"module": policies.WithConstants, "optimizer__weight_decay": 0.1}
    check(pair, "objective", **params)


@given(n_rows=st.integers(1, 300), size=st.integers(1, 20))
def test_shares_are_even_and_never_a_single_row(n_rows, size):
    shares = [share_of(n_rows, rank, size) for rank in range(size)]
    rows = [row for share in shares for row in range(n_rows)[share]]
    assert rows == list(range(n_rows))
    n_each = [len(range(n_rows)[share]) for share in shares]
    assert n_each[0] > 0
    busy = [n for n in n_each if n]
    assert max(busy) - min(busy) <= 1
    assert min(busy) >= 2 or n_rows == 1
    assert len(busy) == size or n_rows < 2 * size
