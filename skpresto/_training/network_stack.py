"""Several networks as one module."""

import torch
from torch import Tensor, nn


class NetworkStack(nn.Module):
    """Networks that are trained side by side and predict together.

    In training the output has a leading axis, one entry a network. In evaluation it
    is the logarithm of the networks' mean probability (up to a constant), so that
    prediction, validation and scoring see an ordinary classifier.
    """

    def __init__(self, networks: list[nn.Module]) -> None:
        super().__init__()
        self.networks = nn.ModuleList(networks)

    def forward(self, X: Tensor) -> Tensor:
        """Return logits of shape (k, b, c) in training, (b, c) in evaluation."""
        outputs = torch.stack([network(X) for network in self.networks])
        if self.training:
            return outputs
        return mean_of_logits(outputs)


def mean_of_logits(outputs: Tensor) -> Tensor:
    """Return the logarithm of the mean probability, up to a constant."""
    return torch.logsumexp(torch.log_softmax(outputs, dim=-1), dim=0)


def networks_of(module: nn.Module) -> list[nn.Module]:
    """Return the networks that are trained side by side in ``module``."""
    return list(module.networks) if isinstance(module, NetworkStack) else [module]


def predicted_classes(logits: Tensor) -> Tensor:
    """Return the class that the networks predict together, from (k, b, c) logits."""
    if len(logits) == 1:
        return logits[0].argmax(dim=1)
    return torch.softmax(logits, dim=-1).mean(dim=0).argmax(dim=1)
