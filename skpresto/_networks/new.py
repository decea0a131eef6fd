"""What is done to newly built networks before they are trained."""

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import nn

from skpresto._networks.diversity import make_different
from skpresto._networks.forward import outputs_of
from skpresto._networks.module_hooks import adapt_precision, copy_inputs
from skpresto._networks.probe import changes_inputs, try_network


def prepare_networks(
    networks: list[nn.Module], batch: Any, n_classes: int, *, must_differ: bool
) -> None:
    """Try networks out, and adapt them to the training.

    Parameters
    ----------
    networks : list of nn.Module
        In evaluation mode.
    batch : Tensor
        A few samples, on the device of the networks.
    n_classes : int
        Number of outputs that the networks must have.
    must_differ : bool
        Whether networks need different weights.
    """
    for network in networks:
        adapt_precision(network)
        try_network(network, batch, n_classes)
    # In training mode, it matters only if other networks get the same samples.
    modes = [False, True] if len(networks) > 1 else [False]
    if any(changes_inputs(networks[0], batch, training=mode) for mode in modes):
        for network in networks:
            copy_inputs(network)
    if must_differ:
        make_different(networks)


def compile_networks(
    networks: list[nn.Module],
    batch: Any,
    params: dict[str, Any],
    around: Callable[[Callable], Callable],
) -> None:
    """Compile networks in place, so that their parameters keep their names.

    Parameters
    ----------
    networks : list of nn.Module
        In evaluation mode.
    batch : Tensor
        A few samples, to try the first one.
    params : dict
        Arguments of ``torch.compile``.
    around : callable
        Makes of the compiled function the one that is called.
    """
    try:
        for network in networks:
            # As network.compile(), which ignores classes of torch such as Sequential.
            compiled = torch.compile(partial(_call, network), **params)
            network._compiled_call_impl = around(compiled)
        with torch.no_grad():
            outputs_of(networks[0], batch)
    except Exception as error:  # compilers raise errors of many kinds
        raise ValueError(
            f"module could not be compiled: {type(error).__name__}: {error}. Leave "
            "compile=True out, or choose another compile__backend."
        ) from error


def _call(network: nn.Module, *args: Any, **kwargs: Any) -> Any:
    return network._call_impl(*args, **kwargs)
