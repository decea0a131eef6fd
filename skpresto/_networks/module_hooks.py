"""Hooks by which networks of any precision, or that work in place, can be trained.

They are registered on the copies that are trained, never on a module of the user.
"""

from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from skpresto._data.features import logits_of, map_parts


def adapt_precision(network: nn.Module) -> None:
    """Let a network in half or double precision take and return other types.

    Its inputs are cast to the type of its parameters, and its outputs to float32, in
    which losses and probabilities are computed.
    """
    types = {p.dtype for p in network.parameters() if p.is_floating_point()}
    if not types or torch.float32 in types:
        return
    # The inputs go through the first of the parameters first.
    dtype = next(p.dtype for p in network.parameters() if p.is_floating_point())
    cast = partial(_cast_inputs, dtype)
    network.register_forward_pre_hook(cast, with_kwargs=True)
    network.register_forward_hook(_as_float32)


def _cast_inputs(
    dtype: torch.dtype, network: nn.Module, args: tuple, kwargs: dict
) -> tuple[tuple, dict]:
    cast = partial(_cast, dtype)
    return map_parts(cast, args), map_parts(cast, kwargs)


def _cast(dtype: torch.dtype, part: Any) -> Any:
    is_number = isinstance(part, Tensor) and part.is_floating_point()
    return part.to(dtype) if is_number else part


def _as_float32(network: nn.Module, args: tuple, outputs: Any) -> Any:
    return _cast(torch.float32, logits_of(outputs))


def copy_inputs(network: nn.Module) -> None:
    """Let a network that changes its inputs in place change a copy of them."""
    network.register_forward_pre_hook(_copied_inputs, with_kwargs=True)


def _copied_inputs(network: nn.Module, args: tuple, kwargs: dict) -> tuple[tuple, dict]:
    return map_parts(copied, args), map_parts(copied, kwargs)


def copied(part: Any) -> Any:
    """Return a copy of a tensor, and anything else as it is."""
    return part.clone() if isinstance(part, Tensor) else part
