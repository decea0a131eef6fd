"""The representation before the last layer of a network."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from skpresto._data.features import on_device
from skpresto._data.training_data import PredictionRows
from skpresto._networks.net import NoisyLabelNet


def activations_and_logits(
    net: NoisyLabelNet, rows: PredictionRows
) -> tuple[Tensor, Tensor]:
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
    logits : Tensor of shape (n_rows, n_classes)
        The outputs.
    """
    (network,) = net.networks
    net._set_training(False)
    activations, outputs = [], []
    with torch.no_grad(), _inputs_of_linear_layers(network) as inputs:
        for features, _ in net.get_iterator(rows):
            inputs.clear()
            logits = net.infer(on_device(features, net.device)).float()
            last = inputs[-1].float() if inputs else logits
            is_vector = last.dim() == 2 and len(last) == len(logits)
            activations.append(last if is_vector else logits)
            outputs.append(logits)
    return torch.cat(activations), torch.cat(outputs)


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
