"""Apply a module to the features of a batch, and a criterion to what it returns."""

import inspect
from collections.abc import Callable, Mapping
from inspect import Parameter
from typing import Any

import torch
from torch import Tensor, nn

from skpresto._data.features import has_parts, logits_of, map_parts
from skpresto._networks.stack import networks_of

#: Stands for the class of a sample without a prediction.
MISSING = -1
#: Types for the forward pass, by the name that users give.
AUTOCAST_TYPES = {"bfloat16": torch.bfloat16, "float16": torch.float16}

_POSITIONAL = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)


def outputs_of(
    module: nn.Module,
    features: Any,
    autocast: str | None = None,
    device: str | torch.device = "cpu",
) -> Any:
    """Return the logits of a module.

    As in skorch, the parts of a dict are passed by name, and a tuple as one argument.
    A tuple is passed as several if ``forward`` requires more than one.

    Parameters
    ----------
    module : nn.Module
        One network, or several as one module.
    features : Tensor, or dict or tuple of tensors
        On the device of the module.
    autocast : {"bfloat16", "float16"}, default=None
        Type of the operations that gain from it; torch decides which ones. Images are
        computed in channels-last order then, and logits are float32.
    device : str or torch.device, default="cpu"
        Where that is.
    """
    if autocast is not None:
        features, dtype = map_parts(_channels_last, features), AUTOCAST_TYPES[autocast]
        with torch.autocast(torch.device(device).type, dtype=dtype):
            return outputs_of(module, features).float()
    if isinstance(features, Tensor):
        output = module(features)
    elif isinstance(features, Mapping):
        output = module(**features)
    elif has_parts(features) and _requires_several(module):
        output = module(*features)
    else:
        output = module(features)
    return output if isinstance(output, Tensor) else logits_of(output)


def _channels_last(part: Any) -> Any:
    if isinstance(part, Tensor) and part.dim() == 4:
        return part.contiguous(memory_format=torch.channels_last)
    return part


def check_names(module: nn.Module, features: Mapping[str, Any]) -> None:
    """Raise if ``forward`` does not take the parts of a dict by their names."""
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


def sample_losses(criterion: Callable, outputs: Tensor, targets: Tensor) -> Tensor:
    """Return the loss of each sample, for one network after the other.

    Parameters
    ----------
    criterion : callable
        Maps logits and targets to one loss per sample.
    outputs : Tensor of shape (b, n_classes) or (k, b, n_classes)
        Logits of one network, or of k networks.
    targets : Tensor
        Class numbers, of an integer dtype and of shape (b,) or (k, b), or class
        probabilities, of a floating-point dtype and of shape (b, n_classes) or
        (k, b, n_classes). Without the axis k they are the same for all networks.

    Returns
    -------
    losses : Tensor of shape (b,) or (k * b,)
        To be viewed as (k, b).
    """
    shape = outputs.shape if targets.is_floating_point() else outputs.shape[:-1]
    if outputs.dim() == 2:
        losses = criterion(outputs, targets.view(shape))
    else:
        targets = targets.expand(shape)
        losses = criterion(outputs.flatten(0, 1), targets.flatten(0, 1))
    check_one_per_sample(criterion, losses, outputs.shape[:-1].numel())
    return losses


def check_one_per_sample(criterion: Callable, losses: Tensor, expected: int) -> None:
    """Raise if there is not one loss per sample."""
    shape = getattr(losses, "shape", type(losses).__name__)
    if shape != (expected,):
        got = shape if isinstance(shape, str) else tuple(shape)
        raise ValueError(
            f"criterion must return one loss per sample, here of shape ({expected},); "
            f"{type(criterion).__name__} returned {got}. Use one that takes "
            "reduction='none'."
        )


def classes_of(outputs: Tensor) -> Tensor:
    """Return the class with the largest logit, or MISSING where that is not finite."""
    classes = outputs.argmax(dim=-1)
    # Not a number if any logit is not finite, and faster than a look at each row. It
    # would wait for a GPU.
    if outputs.is_cpu and outputs.sum().isfinite():
        return classes
    return torch.where(outputs.amax(dim=-1).isfinite(), classes, MISSING)


def require_predictions(is_missing: Tensor) -> None:
    """Raise if samples have no prediction."""
    if not is_missing.any():
        return
    rows = is_missing.nonzero().squeeze(1)
    raise ValueError(
        f"module returned no finite logits for {len(rows)} of {len(is_missing)} "
        f"samples, the first of them in row {int(rows[0])}, so they have no "
        "prediction. Check these rows for unusual values, and the module for divisions "
        "and logarithms."
    )
