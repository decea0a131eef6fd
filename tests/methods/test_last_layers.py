"""Which layers are the last ones, and that they are trained alone."""

import copy

import pytest
import torch
from torch import nn

from skpresto._methods._last_layers import last_layers, trained_alone
from skpresto._training.policy import LearnFromAll
from skpresto._training.stage import Stage
from skpresto.modules import MLP, DenseNet, SmallCNN


class WithScale(nn.Module):
    """Parameters of the module itself come first, and cannot be drawn anew."""

    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(1))
        self.first, self.fc = nn.Linear(2, 8), nn.Linear(8, 4)

    def forward(self, X):
        return self.fc(self.first(X).relu()) * self.scale


class OnlyScale(nn.Module):
    """Not a layer that could be drawn anew."""


def names(network, layers):
    return [next(k for k, m in network.named_modules() if m is x) for x in layers]


@pytest.mark.parametrize(
    ("network", "which", "expected"),
    [
        (MLP(2, 4, (8, 8)), 1, ["8"]),
        (MLP(2, 4, (8, 8)), 2, ["4", "5", "8"]),  # with its BatchNorm
        (MLP(2, 4, (8, 8)), 9, ["4", "5", "8"]),  # the first layer stays
        (MLP(2, 4, (8, 8)), "^4|8.bias", ["4", "8"]),
        (SmallCNN((1, 8, 8), 4, (2, 2)), 2, ["blocks.10", "blocks.11", "head.1"]),
        (WithScale(), 2, ["first", "fc"]),
        (nn.Linear(2, 4), 1, [""]),
        (WithScale(), "fc", ["fc"]),
    ],
)
def test_last_layers_by_number_and_by_name(network, which, expected):
    assert names(network, last_layers(network, which, "block")) == expected


def test_frozen_layers_are_not_counted():
    network = MLP(2, 4, (8, 8))
    network[4].requires_grad_(False)
    assert names(network, last_layers(network, 2, "block")) == ["5", "8"][1:]


@pytest.mark.parametrize(
    ("network", "which", "message"),
    [
        (OnlyScale(), 1, "no parameter matches 1; the layers are"),
        (WithScale(), "scale", r"the module itself \(WithScale\) has no reset_param"),
        (WithScale(), "layer4", "matches 'layer4'; the layers are first, fc"),
    ],
)
def test_what_cannot_be_drawn_anew_is_said(network, which, message):
    with pytest.raises(ValueError, match=message):
        last_layers(network, which, "block")


def test_dense_networks_have_a_last_layer():
    network = DenseNet((1, 16, 16), 3)
    (layer,) = last_layers(network, 1, "head")
    assert layer.out_features == 3


@pytest.mark.parametrize("optimizer", [torch.optim.SGD, torch.optim.Adam])
def test_only_these_layers_are_trained_and_begin_anew(make_trainer, optimizer):
    trainer = make_trainer(optimizer=optimizer, module__hidden=(8, 8), lr=0.01)
    net = trainer.net
    (network,) = net.networks
    trainer.run(Stage("train", LearnFromAll(), 1))
    before, own = copy.deepcopy(network.state_dict()), net.optimizer_
    layers = last_layers(network, 2, "block")
    with trained_alone(net, layers, lr=1e-3):
        assert net.optimizer_ is not own
        drawn = copy.deepcopy(network.state_dict())
        trainer.run(Stage("last block", LearnFromAll(), 1))
    assert net.optimizer_ is own
    assert all(p.requires_grad for p in network.parameters())
    assert trainer.records[-1].learning_rate == 1e-3
    for name, value in network.named_parameters():
        is_last = name.split(".")[0] in ("4", "5", "8")
        assert torch.equal(value, before[name]) is not is_last
        assert torch.equal(drawn[name], before[name]) is not is_last
    for layer in layers:
        for parameter in layer.parameters():
            state = own.state[parameter].values()
            assert not any(v.any() for v in state if isinstance(v, torch.Tensor))
    assert any(v.any() for v in own.state[network[0].weight].values())


def test_an_error_leaves_no_layer_frozen(make_trainer):
    trainer = make_trainer(module__hidden=(8, 8))
    (network,) = trainer.net.networks
    network[0].bias.requires_grad_(False)
    own = trainer.net.optimizer_
    layers = last_layers(network, 1, "head")
    with pytest.raises(KeyboardInterrupt), trained_alone(trainer.net, layers, lr=1e-3):
        raise KeyboardInterrupt
    assert trainer.net.optimizer_ is own
    frozen = [name for name, p in network.named_parameters() if not p.requires_grad]
    assert frozen == ["0.bias"]
