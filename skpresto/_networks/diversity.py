"""Networks that are trained on the same batches need different initial weights."""

import torch
from torch import nn

# Standard deviation of the noise, relative to the root mean square of a parameter.
_RELATIVE_NOISE = 0.01


def make_different(networks: list[nn.Module]) -> None:
    """Add a little noise to the weights of networks that equal the first one.

    These are copies of one module, whose weights may come from pretraining, so that
    they must not be initialized anew. Frozen parameters are left alone, and so are
    those that are zero throughout.
    """
    for network in networks[1:]:
        if not _are_equal(networks[0], network):
            continue
        with torch.no_grad():
            for parameter in network.parameters():
                if parameter.requires_grad:
                    scale = parameter.float().square().mean().sqrt().item()
                    noise = torch.randn_like(parameter, dtype=torch.float32)
                    parameter.add_(noise, alpha=_RELATIVE_NOISE * scale)
        if _are_equal(networks[0], network):
            raise ValueError(
                "Two networks with equal initial weights stay equal. The module given "
                "is an instance whose trainable weights are all zero; initialize them "
                "with random numbers, or pass its class instead."
            )


def _are_equal(first: nn.Module, second: nn.Module) -> bool:
    return all(map(torch.equal, first.parameters(), second.parameters()))
