"""Modules whose tensors are replaced by arrays, and back."""

import copy
import pickle

import numpy as np
import pytest
import torch
from torch import nn

from skpresto._networks.stored import StoredTensor, with_tensors, without_tensors


class Tied(nn.Module):
    """Two layers with one weight, and the weight in a list besides."""

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(4, 4), nn.Linear(4, 4)
        self.second.weight = self.first.weight
        self.weights = [self.first.weight]

    def forward(self, X):
        return self.second(self.first(X))


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.LSTM(4, 3, batch_first=True, bidirectional=True)

    def forward(self, X):
        return self.layer(X.unsqueeze(1))[0]


MODULES = {
    "tied": Tied,
    "recurrent": Recurrent,
    "batch norm": lambda: nn.Sequential(nn.Linear(4, 3), nn.BatchNorm1d(3)),
    "double": lambda: nn.Linear(4, 2).double(),
    "bfloat16": lambda: nn.Linear(4, 2).bfloat16(),
    "frozen": lambda: nn.Linear(4, 2).requires_grad_(False),
    "attention": lambda: nn.TransformerEncoderLayer(4, 2, 8, batch_first=True),
}


def stored_and_back(module):
    """Store a module as another process would receive it."""
    stored = pickle.loads(pickle.dumps(without_tensors({"module": module})))
    return with_tensors(stored)["module"]


@pytest.mark.parametrize("name", MODULES)
def test_a_module_comes_back_equal(name):
    module = MODULES[name]().eval()
    back = stored_and_back(module)
    assert type(back) is type(module)
    assert [n for n, _ in back.named_parameters()] == [
        n for n, _ in module.named_parameters()
    ]
    for before, after in zip(module.parameters(), back.parameters(), strict=True):
        assert after.requires_grad == before.requires_grad
    dtype = next(module.parameters()).dtype
    X = torch.randn(5, 4).to(dtype)
    with torch.no_grad():
        assert torch.equal(module(X), back(X))


def test_the_module_itself_keeps_its_tensors():
    module = Tied()
    before = copy.deepcopy(module.state_dict())
    without_tensors({"module": module})
    assert all(torch.equal(before[k], v) for k, v in module.state_dict().items())


def test_tied_weights_stay_one_parameter():
    back = stored_and_back(Tied())
    assert back.first.weight is back.second.weight
    assert back.weights[0] is back.first.weight


def test_a_module_that_came_back_can_be_trained():
    back = stored_and_back(nn.Linear(3, 2))
    back(torch.ones(1, 3)).sum().backward()
    assert torch.equal(back.weight.grad, torch.ones(2, 3))


def test_the_order_of_channels_in_memory_is_kept():
    layer = nn.Conv2d(3, 4, 3).to(memory_format=torch.channels_last)
    assert stored_and_back(layer).weight.stride() == layer.weight.stride()


def test_a_sparse_buffer_is_copied_as_it_is():
    module = nn.Linear(2, 2)
    module.register_buffer("graph", torch.eye(3).to_sparse())
    assert torch.equal(stored_and_back(module).graph.to_dense(), torch.eye(3))


def test_read_only_arrays_are_copied_without_a_warning():
    stored = StoredTensor(torch.arange(3.0))
    stored.values.flags.writeable = False
    tensor = stored.tensor()
    tensor += 1
    np.testing.assert_array_equal(stored.values, [0, 1, 2])
