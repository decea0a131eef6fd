"""Several networks as one module."""

from collections.abc import Iterable

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


class LearnerAndPartners(nn.Module):
    """A network in training and others that are done, which predict together.

    In training only the learner is asked, which may be a :class:`NetworkStack`. In
    evaluation the logarithms of all probabilities are averaged, with half of the weight
    on the networks in training and half on the others, however many these are.
    """

    def __init__(self, learner: nn.Module, partners: Iterable[nn.Module]) -> None:
        super().__init__()
        self.learner = learner
        self.partners = nn.ModuleList(partners).requires_grad_(False)

    def forward(self, X: Tensor) -> Tensor:
        """Return the logits of the learner in training, (b, c) in evaluation."""
        if self.training:
            return self.learner(X)
        sides = networks_of(self.learner), self.partners
        return torch.stack([_mean_logarithm(side, X) for side in sides]).mean(dim=0)


def _mean_logarithm(networks: Iterable[nn.Module], X: Tensor) -> Tensor:
    outputs = torch.stack([network(X) for network in networks])
    logarithms = torch.log_softmax(outputs, dim=-1)
    # Classes that modules mask by -inf must not make sums that are not a number.
    least = torch.finfo(outputs.dtype).min / 8
    return logarithms.clamp(min=least).mean(dim=0)


def mean_of_logits(outputs: Tensor) -> Tensor:
    """Return the logarithm of the mean probability, up to a constant."""
    return torch.logsumexp(torch.log_softmax(outputs, dim=-1), dim=0)


def networks_of(module: nn.Module) -> list[nn.Module]:
    """Return the networks that are trained side by side in ``module``."""
    if isinstance(module, LearnerAndPartners):
        return networks_of(module.learner)
    return list(module.networks) if isinstance(module, NetworkStack) else [module]


def predicted_classes(logits: Tensor) -> Tensor:
    """Return the class that the networks predict together, from (k, b, c) logits."""
    if len(logits) == 1:
        return logits[0].argmax(dim=1)
    return torch.softmax(logits, dim=-1).mean(dim=0).argmax(dim=1)
