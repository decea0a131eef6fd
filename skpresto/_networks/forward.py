"""Call a module with the features of a batch, which may have several parts."""

import inspect
from collections.abc import Mapping
from inspect import Parameter
from typing import Any

from torch import Tensor, nn

from skpresto._data.features import has_parts, logits_of
from skpresto._networks.stack import networks_of

_POSITIONAL = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)


def outputs_of(module: nn.Module, features: Any) -> Any:
    """Return the logits of a module.

    As in skorch, the parts of a dict are passed by name, and a tuple as one argument.
    A tuple is passed as several if ``forward`` requires more than one.
    """
    if isinstance(features, Tensor):
        output = module(features)
    elif isinstance(features, Mapping):
        output = module(**features)
    elif has_parts(features) and _requires_several(module):
        output = module(*features)
    else:
        output = module(features)
    return output if isinstance(output, Tensor) else logits_of(output)


def check_names(module: nn.Module, features: Any) -> None:
    """Raise if ``forward`` does not take the parts of a dict by their names."""
    if not isinstance(features, Mapping):
        return
    try:
        _signature(module).bind(**features)
    except TypeError as error:
        raise ValueError(
            "The keys of X are passed to forward() of the module by name, which failed "
            f"({error}); the keys are {list(features)}. Give X the keys that forward() "
            "of the module takes."
        ) from None


def _requires_several(module: nn.Module) -> bool:
    parameters = _signature(module).parameters.values()
    required = [p for p in parameters if p.default is p.empty and p.kind in _POSITIONAL]
    return len(required) > 1


def _signature(module: nn.Module) -> inspect.Signature:
    network = networks_of(module)[0]
    # A compiled module takes any arguments, and passes them on.
    return inspect.signature(getattr(network, "_orig_mod", network).forward)
