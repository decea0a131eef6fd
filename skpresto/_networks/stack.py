"""Several networks as one module: trained side by side, predicting as an ensemble."""

from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor, nn

from skpresto._data.features import copied, logits_of, map_parts


class NetworkStack(nn.Module):
    """Networks trained side by side that predict their mean probability.

    In training mode the output has a leading axis with one entry per network. In
    evaluation mode it is the logarithm of the mean probability (up to a constant), so
    that prediction, validation and scoring see an ordinary classifier.
    """

    def __init__(self, networks: list[nn.Module]) -> None:
        super().__init__()
        self.networks = nn.ModuleList(networks)

    def forward(self, *inputs: Any, **named: Any) -> Tensor:
        """Return logits of shape (k, b, c) in training mode, else (b, c)."""
        outputs = _stacked_logits(self.networks, inputs, named)
        if self.training:
            return outputs
        return mean_of_logits(outputs)


class FinalAndFoldNetworks(nn.Module):
    """Final networks in training and trained fold networks, as one ensemble.

    In training mode only the final networks are evaluated. In evaluation mode the
    logarithms of the probabilities of all networks are averaged, with ``fold_weight``
    on all fold networks together and the rest on the final networks.

    Parameters
    ----------
    final : nn.Module
        One network, or a :class:`NetworkStack`.
    folds : iterable of nn.Module
        Trained networks; they are not trained further.

    Attributes
    ----------
    fold_weight : float
        One fifth, unless it is changed. Fold networks are trained on fewer rows, for a
        shorter time (benchmarks/NOTES.md).
    """

    fold_weight = 0.2

    def __init__(self, final: nn.Module, folds: Iterable[nn.Module]) -> None:
        super().__init__()
        self.final = final
        self.folds = nn.ModuleList(folds).requires_grad_(False)

    def forward(self, *inputs: Any, **named: Any) -> Tensor:
        """Return the logits of ``final`` in training mode, else (b, n_classes)."""
        if self.training:
            return self.final(*inputs, **named)
        sides = self.folds, networks_of(self.final)
        folds, final = [
            _mean_logarithm(_stacked_logits(side, inputs, named)) for side in sides
        ]
        return torch.lerp(folds, final, 1 - self.fold_weight)


def _stacked_logits(
    networks: Iterable[nn.Module], inputs: tuple, named: dict[str, Any]
) -> Tensor:
    """Return the logits of several networks, of shape (k, b, n_classes).

    Each but the last gets a copy of the inputs, since modules may work in place.
    """
    outputs: list[Tensor] = []
    networks = list(networks)
    for network in networks:
        own, own_named = inputs, named
        if network is not networks[-1]:
            own, own_named = map_parts(copied, inputs), map_parts(copied, named)
        outputs.append(logits_of(network(*own, **own_named)).float())
    return torch.stack(outputs)


def _mean_logarithm(outputs: Tensor) -> Tensor:
    logarithms = torch.log_softmax(outputs, dim=-1)
    # Modules may mask classes by -inf, and sums of those would not be numbers.
    least = torch.finfo(outputs.dtype).min / 8
    return logarithms.clamp(min=least).mean(dim=0)


def mean_of_logits(outputs: Tensor) -> Tensor:
    """Return the logarithm of the mean probability, up to a constant."""
    return torch.logsumexp(torch.log_softmax(outputs, dim=-1), dim=0)


def networks_of(module: nn.Module) -> list[nn.Module]:
    """Return the networks of ``module`` that are trained."""
    if isinstance(module, FinalAndFoldNetworks):
        return networks_of(module.final)
    return list(module.networks) if isinstance(module, NetworkStack) else [module]
