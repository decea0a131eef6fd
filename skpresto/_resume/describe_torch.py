"""Tensors and modules of torch, by value."""

from collections.abc import Iterator
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.parameter import is_lazy

from skpresto._resume.description import (
    Description,
    describe,
    describe_class,
    name_of,
)

#: Attributes of modules that hold parts by name.
_BY_NAME = ("_parameters", "_buffers", "_modules")


@describe.register
def describe_tensor(value: Tensor, place: str, into: Description) -> None:
    """Describe a tensor by type, shape, values, and whether it is to be trained.

    The same tensor in two places is not the same as two equal ones: weights are tied.
    """
    if into.has_met(place, value):
        return
    kind = name_of(type(value)).removeprefix("torch.")
    if is_lazy(value):
        into.put(place, f"{kind} of {value.dtype}, without a shape yet")
        return
    text = f"{kind} of {value.dtype} {tuple(value.shape)}"
    if not value.requires_grad:
        text += ", not trained"
    if value.dim() == 4 and value.is_contiguous(memory_format=torch.channels_last):
        text += ", channels last"
    try:
        content = list(_content_of(value.detach()))
    except (RuntimeError, NotImplementedError, TypeError):  # of a rare kind
        into.put_unknown(place, value)
    else:
        into.put(place, text, content)


def _content_of(tensor: Tensor) -> Iterator[Any]:
    if tensor.layout is not torch.strided:
        sparse = tensor.to_sparse_coo().coalesce()
        yield from _content_of(sparse.indices())
        tensor = sparse.values()
    tensor = tensor.cpu().resolve_conj().resolve_neg()
    flat = (torch.view_as_real(tensor) if tensor.is_complex() else tensor).reshape(-1)
    yield flat.contiguous().view(torch.uint8).numpy()


@describe.register
def describe_network(value: nn.Module, place: str, into: Description) -> None:
    """Describe a module by class, attributes, parameters, buffers, hooks and parts."""
    if isinstance(value, torch.jit.ScriptModule):
        into.put_unknown(place, value)
        return
    if into.has_met(place, value):
        return
    describe_class(type(value), place, into)
    is_compiled = getattr(value, "_compiled_call_impl", None) is not None
    into.put(f"{place}: compiled", str(is_compiled))
    state = getattr(value, "__getstate__", partial(vars, value))()
    for name, part in sorted({**state, "_compiled_call_impl": None}.items()):
        if name in _BY_NAME:
            describe([*part], f"{place}.{name}", into)
            for key, inner in part.items():
                describe(inner, f"{place}.{key}", into)
        elif "hooks" not in name:
            describe(part, f"{place}.{name}", into)
        elif part:  # its keys are numbers of the process
            describe([*part.values()], f"{place}.{name}", into)
