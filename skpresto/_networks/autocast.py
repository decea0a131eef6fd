"""Reduced precision in the forward pass, by hooks on the networks.

Weights, losses and what is recorded of the predictions stay in float32. The hooks are
part of the networks, so that copies and stored networks predict in the same precision.
"""

import threading
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from skpresto._data.features import logits_of, map_parts

#: Types for the forward pass, by the name that users give.
AUTOCAST_TYPES = {"bfloat16": torch.bfloat16, "float16": torch.float16}

# Contexts that were entered and not yet left; predictions may run in several threads.
_ENTERED = threading.local()


def autocast_network(network: nn.Module, name: str, device: str | torch.device) -> None:
    """Let a network compute in reduced precision, and images in channels-last order.

    Parameters
    ----------
    network : nn.Module
        A copy that is trained, never a module of the user.
    name : {"bfloat16", "float16"}
        Type of the operations that gain from it; torch decides which ones.
    device : str or torch.device
        Where the network is.
    """
    network.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
    kind = torch.device(device).type
    enter = partial(_enter, AUTOCAST_TYPES[name], kind)
    network.register_forward_pre_hook(enter, with_kwargs=True)
    # Left also if the forward pass fails, since the state belongs to the thread.
    network.register_forward_hook(_leave, always_call=True)


def _enter(
    dtype: torch.dtype, device_type: str, network: nn.Module, args: tuple, kwargs: dict
) -> tuple[tuple, dict]:
    # A compiler cannot follow what begins here and ends elsewhere.
    if not torch.compiler.is_compiling():
        context = torch.autocast(device_type, dtype=dtype)
        context.__enter__()
        _contexts().append(context)
    return map_parts(_channels_last, args), map_parts(_channels_last, kwargs)


def _leave(network: nn.Module, args: tuple, outputs: Any) -> Any:
    if not torch.compiler.is_compiling():
        _contexts().pop().__exit__(None, None, None)
    return None if outputs is None else logits_of(outputs).float()


def autocast_call(
    function: Callable, name: str | None, device: str | torch.device
) -> Callable:
    """Return a compiled function that is called in reduced precision, if any."""
    if name is None:
        return function
    kind = torch.device(device).type
    return partial(_call_reduced, function, AUTOCAST_TYPES[name], kind)


def _call_reduced(
    function: Callable, dtype: torch.dtype, device_type: str, *args: Any, **kwargs: Any
) -> Any:
    with torch.autocast(device_type, dtype=dtype):
        return function(*args, **kwargs)


def _contexts() -> list[torch.autocast]:
    if not hasattr(_ENTERED, "contexts"):
        _ENTERED.contexts = []
    return _ENTERED.contexts


def _channels_last(part: Any) -> Any:
    if isinstance(part, Tensor) and part.dim() == 4:
        return part.contiguous(memory_format=torch.channels_last)
    return part


def gradient_scaler(name: str | None, device: str | torch.device) -> Any:
    """Return what keeps small gradients of float16 from becoming zero, or None."""
    if name != "float16":
        return None
    return torch.amp.GradScaler(torch.device(device).type)
