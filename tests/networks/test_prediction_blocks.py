from functools import partial

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from skpresto._networks.prediction_blocks import (
    BlockPlan,
    blocks_of,
    outputs_in_blocks,
)

SMALL, LARGE = nn.Linear(10, 2), nn.Linear(100, 10_000)


@pytest.mark.parametrize(
    ("shape", "module", "expected"),
    [((1, 2), SMALL, 4096), ((1, 2), LARGE, 256), ((1, 2), nn.Linear(100, 200), 816)]
    + [((1, 4096), LARGE, 64), ((1, 10**6), SMALL, 16)]
    + [((1, 3, 32, 32), LARGE, 16), ((1, 5, 7), SMALL, 16)],
)
def test_rows_of_a_forward_pass_do_not_depend_on_their_number(shape, module, expected):
    for n_rows in (1, 3, 700):
        features = torch.empty(1).expand(n_rows, *shape[1:])
        assert BlockPlan.of(module).block_size(features) == expected


@given(st.integers(1, 600), st.sampled_from([16, 48, 256]))
def test_blocks_of_one_size_hold_all_rows_in_order(n_rows, size):
    features = torch.arange(float(n_rows)).unsqueeze(1).expand(n_rows, 2)
    blocks = list(blocks_of(features, size))
    assert {len(block) for block, _ in blocks} == {size}
    kept = torch.cat([block[:n] for block, n in blocks])
    assert torch.equal(kept, features)
    last, n_in_last = blocks[-1]
    assert torch.equal(
        last[n_in_last:], last[n_in_last - 1].expand_as(last)[n_in_last:]
    )


@pytest.mark.parametrize("n_inputs", [3, 5, 16, 30])
@pytest.mark.parametrize("n_outputs", [2, 7, 20])
def test_outputs_of_a_row_do_not_depend_on_its_place(n_inputs, n_outputs):
    torch.manual_seed(0)
    module = nn.Linear(n_inputs, n_outputs).eval()
    features = torch.randn(300, n_inputs)
    with torch.no_grad():
        apply = partial(outputs_in_blocks, module, plan=BlockPlan.of(module))
        expected = apply(features)
        order = torch.randperm(300)
        assert torch.equal(apply(features[order]), expected[order])
        alone = [apply(row) for row in features[:20].split(1)]
        torch.testing.assert_close(expected, module(features))
    assert torch.equal(torch.cat(alone), expected[:20])
