"""Convolutions are computed with the channels last, where the module allows it."""

import pytest
import torch
from torch import nn

from skpresto._networks.new import order_channels_last
from skpresto.modules import SmallCNN


class Flattens(nn.Module):
    """The order of the channels matters to ``view``."""

    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Conv2d(3, 4, 3, padding=1), nn.ReLU())
        self.head = nn.Linear(4 * 6 * 6, 2)

    def forward(self, X):
        return self.head(self.layers(X).view(len(X), -1))


class ReadsMemory(Flattens):
    """Returns something else if values are stored in another order."""

    def forward(self, X):
        hidden = self.layers(X)
        return self.head(hidden.as_strided((len(X), 144), (144, 1)))


X = torch.randn(2, 3, 6, 6, generator=torch.Generator().manual_seed(0))


def is_channels_last(network):
    weight = next(network.parameters())
    return weight.is_contiguous(memory_format=torch.channels_last)


def test_weights_are_ordered_and_outputs_are_the_same():
    network = SmallCNN((3, 6, 6), 2, widths=(4, 8)).eval()
    expected = network(X)
    order_channels_last(network, X, None)
    assert is_channels_last(network)
    torch.testing.assert_close(network(X), expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("module", [Flattens, ReadsMemory])
def test_modules_that_depend_on_the_order_keep_it(module):
    network = module().eval()
    expected = network(X)
    order_channels_last(network, X, None)
    assert not is_channels_last(network)
    assert torch.equal(network(X), expected)


def test_other_types_are_left_alone():
    network = SmallCNN((3, 6, 6), 2, widths=(4, 8)).double().eval()
    order_channels_last(network, X.double(), None)
    assert not is_channels_last(network)
