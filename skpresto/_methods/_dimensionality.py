"""The local intrinsic dimensionality of the representation before the last layer."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from skpresto._data.features import on_device
from skpresto._data.training_data import PredictionRows
from skpresto._networks.net import NoisyLabelNet
from skpresto._training.trainer import Trainer

# Samples drawn after each epoch, and those among which neighbors are searched.
_N_SAMPLES = 1280
N_TOGETHER = 128
# Added to ratios of distances, since that of equal samples is zero.
_SMALL = 1e-8


def mean_dimensionality(trainer: Trainer, n_neighbors: int) -> float:
    """Return the mean LID of samples drawn at random, in groups of 128.

    A last group too small for that many neighbors is left out, unless it is the only
    one.
    """
    rows = trainer.data.training_rows(None)
    drawn = torch.randperm(len(rows))[:_N_SAMPLES]
    index = drawn if rows.rows is None else rows.rows[drawn]
    activations = penultimate_activations(
        trainer.net, PredictionRows(trainer.data.X, index)
    )
    first, *others = activations.split(N_TOGETHER)
    groups = [first, *(group for group in others if len(group) > n_neighbors)]
    means = [local_dimensionality(group, n_neighbors) for group in groups]
    return float(np.average(means, weights=[len(group) for group in groups]))


def local_dimensionality(activations: Tensor, n_neighbors: int) -> float:
    """Return the mean local intrinsic dimensionality (LID) of some samples.

    With the distances d_1 <= ... <= d_k of a sample to its k nearest neighbors among
    the others, the estimate is ``-k / sum(log(d_j / d_k))``. Samples whose neighbors
    are all equally far have none; nan is returned if that holds for all samples.

    Parameters
    ----------
    activations : Tensor of shape (b, d)
        Representation of the samples.
    n_neighbors : int
        k; fewer if there are fewer other samples.

    Examples
    --------
    >>> import torch
    >>> points = torch.tensor([[0.0], [1.0], [3.0]])
    >>> round(local_dimensionality(points, n_neighbors=2), 3)
    3.213
    """
    k = min(n_neighbors, len(activations) - 1)
    values = activations.cpu().double()  # not all devices have float64
    # A sample comes first in its own row, also if others equal it.
    distances = torch.cdist(values, values).fill_diagonal_(-1)
    nearest = distances.topk(k + 1, dim=1, largest=False).values[:, 1:]
    logarithms = (nearest / nearest[:, -1:] + _SMALL).log().sum(dim=1)
    estimates = -k / logarithms
    return estimates[estimates.isfinite() & (estimates > 0)].mean().item()


def penultimate_activations(net: NoisyLabelNet, rows: PredictionRows) -> Tensor:
    """Return the activations that enter the last linear layer, in evaluation mode.

    Parameters
    ----------
    net : NoisyLabelNet
        A net with one network.
    rows : PredictionRows
        Samples.

    Returns
    -------
    activations : Tensor of shape (n_rows, n_units)
        What the ``nn.Linear`` that is called last gets as its input. The logits, if the
        network calls none, or one whose input is not a vector per sample.
    """
    (network,) = net.networks
    net._set_training(False)
    parts = []
    with torch.no_grad(), _inputs_of_linear_layers(network) as inputs:
        for features, _ in net.get_iterator(rows):
            inputs.clear()
            logits = net.infer(on_device(features, net.device))
            last = inputs[-1] if inputs else logits
            is_vector = last.dim() == 2 and len(last) == len(logits)
            parts.append((last if is_vector else logits).float())
    return torch.cat(parts)


@contextmanager
def _inputs_of_linear_layers(network: nn.Module) -> Iterator[list[Tensor]]:
    """Collect the inputs of linear layers in the order in which they are called."""
    inputs: list[Tensor] = []

    def collect(layer: nn.Module, args: tuple, kwargs: dict[str, Any]) -> None:
        inputs.append(args[0] if args else kwargs["input"])

    layers = [part for part in network.modules() if isinstance(part, nn.Linear)]
    hooks = [
        layer.register_forward_pre_hook(collect, with_kwargs=True) for layer in layers
    ]
    # A compiled network does not call its layers one by one.
    compiled, network._compiled_call_impl = network._compiled_call_impl, None
    try:
        yield inputs
    finally:
        network._compiled_call_impl = compiled
        for hook in hooks:
            hook.remove()
