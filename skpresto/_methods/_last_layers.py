"""The last layers of a network: which they are, and how they are trained alone."""

import copy
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _NormBase

from skpresto._networks.net import NoisyLabelNet

#: They belong to the layer before them.
_NORMS = (_NormBase, nn.LayerNorm, nn.GroupNorm, nn.RMSNorm)


def last_layers(network: nn.Module, which: int | str, name: str) -> list[nn.Module]:
    """Return the last layers of a network that are trained.

    Parameters
    ----------
    network : nn.Module
        One network.
    which : int or str
        A number of modules that have parameters themselves, in the order in which they
        are defined; those that normalize are not counted, and come with the one before.
        Or a regular expression that is searched in the names of parameters.
    name : str
        Name of the parameter of the estimator, for messages.
    """
    layers = {
        path: part
        for path, part in network.named_modules()
        if any(p.requires_grad for p in part.parameters(recurse=False))
    }
    if isinstance(which, str):
        chosen = [
            path
            for path, part in layers.items()
            if any(
                re.search(which, f"{path}.{own}".lstrip("."))
                for own, _ in part.named_parameters(recurse=False)
            )
        ]
    else:
        chosen = _last(layers, which)
    if not chosen:
        raise ValueError(
            f"{name} must name layers of the module that are trained, but no parameter "
            f"matches {which!r}; the layers are {', '.join(filter(None, layers))}."
        )
    for path in chosen:
        if not hasattr(layers[path], "reset_parameters"):
            raise ValueError(
                f"{name}={which!r} means the layers {', '.join(chosen)} of the module, "
                f"but {path or 'the module itself'} ({type(layers[path]).__name__}) "
                "has no reset_parameters(), by which it could be initialized anew. "
                f"Write one, or choose other layers by {name}."
            )
    return [layers[path] for path in chosen]


def _last(layers: dict[str, nn.Module], n_layers: int) -> list[str]:
    """Return the names of the last layers, without the first if there are others."""
    counted = [k for k, part in layers.items() if not isinstance(part, _NORMS)]
    if not counted:
        return []
    names, n_layers = list(layers), min(n_layers, max(1, len(counted) - 1))
    return names[names.index(counted[-n_layers]) :]


@contextmanager
def trained_alone(
    net: NoisyLabelNet, layers: list[nn.Module], lr: float
) -> Iterator[None]:
    """Initialize layers anew, and let Adam train them, and nothing else, in a block.

    The optimizer of the net is back afterwards, without momentum of these layers.
    """
    of_layers = [p for layer in layers for p in layer.parameters(recurse=False)]
    trained = [p for p in of_layers if p.requires_grad]
    others = _without(net.module_.parameters(), trained)
    before: torch.optim.Optimizer = net.optimizer_
    for layer in layers:
        # Drawn on the CPU, to be the same on all devices.
        drawn: Any = copy.deepcopy(layer).cpu()
        drawn.reset_parameters()
        layer.load_state_dict(drawn.state_dict())
    for parameter in trained:  # no momentum from the time before
        for value in before.state[parameter].values():
            if isinstance(value, Tensor):
                value.zero_()
    net.optimizer_ = torch.optim.Adam(trained, lr=lr)
    for parameter in others:
        parameter.requires_grad_(False)
    try:
        yield
    finally:
        net.optimizer_ = before
        for parameter in others:
            parameter.requires_grad_()


def _without(
    parameters: Iterator[nn.Parameter], left_out: list[nn.Parameter]
) -> list[nn.Parameter]:
    """Return the trained parameters that are not in a list."""
    ids = set(map(id, left_out))
    return [p for p in parameters if p.requires_grad and id(p) not in ids]
