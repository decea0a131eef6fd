"""Several networks as one module: trained side by side, predicting as an ensemble."""

import pickle
import random
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from skpresto._data.features import copied, logits_of, map_parts
from skpresto._networks.side_by_side import outputs_in_threads
from skpresto.modules import FastDropout


class NetworkStack(nn.Module):
    """Networks trained side by side that predict their mean probability.

    In training mode the output has a leading axis with one entry per network. In
    evaluation mode it is the logarithm of the mean probability (up to a constant), so
    that prediction, validation and scoring see an ordinary classifier.

    In training mode each network draws its dropout from a generator of its own, so that
    the same numbers are drawn for any number of threads.

    Attributes
    ----------
    n_threads : int
        Threads in which networks are trained. It is 1 again after the first batch in
        which networks draw from torch's generator, since then their order matters.
    """

    n_threads = 1

    def __init__(self, networks: list[nn.Module]) -> None:
        super().__init__()
        self.networks = nn.ModuleList(networks)
        self._is_tried = False
        # For each network its generator and what draws from it, in training mode.
        self._drawing: list[tuple[torch.Generator, list[nn.Module]]] | None = None

    def train(self, mode: bool = True) -> "NetworkStack":
        """Set the mode of all networks."""
        self._drawing = None
        return super().train(mode)

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_drawing": None}

    def forward(self, *inputs: Any, **named: Any) -> Tensor:
        """Return logits of shape (k, b, c) in training mode, else (b, c)."""
        if not self.training:
            return mean_of_logits(_stacked_logits(self.networks, inputs, named))
        tasks = self._tasks(inputs, named)
        if self.n_threads > 1 and self._is_tried:
            return outputs_in_threads(tasks, self.n_threads)
        before = _random_states() if self.n_threads > 1 else None
        outputs = torch.stack([task() for task in tasks])
        if before is not None and before != _random_states():
            self.n_threads = 1
        self._is_tried = True
        return outputs

    def _tasks(self, inputs: tuple, named: dict) -> list[Callable[[], Tensor]]:
        """Return what each network computes, with its own copy of the inputs."""
        if self._drawing is None:
            self._drawing = [
                (torch.Generator(), list(filter(_draws, network.modules())))
                for network in self.networks
            ]
        if any(dropouts for _, dropouts in self._drawing):
            # Drawn here, so that nothing depends on the order of the networks.
            seeds = torch.randint(1 << 62, (len(self._drawing),)).tolist()
            for (generator, _), seed in zip(self._drawing, seeds, strict=True):
                generator.manual_seed(seed)
        tasks: list[Callable[[], Tensor]] = []
        for network, drawing in zip(self.networks, self._drawing, strict=True):
            copies = map_parts(copied, inputs), map_parts(copied, named)
            tasks.append(partial(_trained_logits, network, *copies, *drawing))
        return tasks


def _trained_logits(
    network: nn.Module,
    inputs: tuple,
    named: dict[str, Any],
    generator: torch.Generator,
    dropouts: list[nn.Module],
) -> Tensor:
    """Return the logits of a network whose dropout draws from its own generator."""
    for dropout in dropouts:
        vars(dropout)["generator"] = generator
    try:
        return logits_of(network(*inputs, **named)).float()
    finally:
        for dropout in dropouts:
            del vars(dropout)["generator"]


def _draws(part: nn.Module) -> bool:
    return isinstance(part, FastDropout) and part.p > 0


def _random_states() -> bytes:
    """Return the state of what modules draw from, but for generators of their own."""
    states = torch.get_rng_state().numpy(), np.random.get_state(), random.getstate()
    return pickle.dumps(states)


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
