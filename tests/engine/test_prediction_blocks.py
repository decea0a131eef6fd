import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from skpresto._engine.prediction_blocks import (
    block_size,
    blocks_of,
    outputs_in_blocks,
)


@pytest.mark.parametrize(
    ("shape", "expected"),
    [((1, 2), 256), ((1, 1024), 256), ((1, 4096), 64), ((1, 10**6), 16)]
    + [((1, 3, 32, 32), 16), ((1, 5, 7), 16)],
)
def test_rows_of_a_forward_pass_depend_on_the_shape_of_a_row_only(shape, expected):
    for n_rows in (1, 3, 700):
        assert block_size(torch.empty(1).expand(n_rows, *shape[1:])) == expected


@given(st.integers(1, 600), st.sampled_from([(2,), (3000,), (1, 2, 2)]))
def test_blocks_of_one_size_hold_all_rows_in_order(n_rows, shape):
    values = torch.arange(float(n_rows)).view(-1, *(1 for _ in shape))
    features = values.expand(n_rows, *shape)
    blocks = list(blocks_of(features))
    assert {len(block) for block, _ in blocks} == {block_size(features)}
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
        expected = outputs_in_blocks(module, features)
        order = torch.randperm(300)
        assert torch.equal(outputs_in_blocks(module, features[order]), expected[order])
        alone = [outputs_in_blocks(module, row) for row in features[:20].split(1)]
        torch.testing.assert_close(expected, module(features))
    assert torch.equal(torch.cat(alone), expected[:20])
