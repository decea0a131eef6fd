"""Features of a batch: one tensor, or a dict or tuple of several."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn.utils.rnn import PackedSequence


def has_parts(features: Any) -> bool:
    """Return whether features are a dict, tuple or list of tensors."""
    if isinstance(features, PackedSequence):  # a tuple, but only valid as a whole
        return False
    return isinstance(features, (Mapping, tuple, list))


def map_parts(function: Callable[[Any], Any], features: Any) -> Any:
    """Apply a function to the features, or to each part of them."""
    if not has_parts(features):
        return function(features)
    if isinstance(features, Mapping):
        return {name: map_parts(function, part) for name, part in features.items()}
    return tuple(map_parts(function, part) for part in features)


def parts_of(features: Any) -> list[Any]:
    """Return the parts of features, or the features as the only one."""
    if not has_parts(features):
        return [features]
    parts = features.values() if isinstance(features, Mapping) else features
    return [inner for part in parts for inner in parts_of(part)]


def join_parts(join: Callable[[list], Any], several: Sequence[Any]) -> Any:
    """Make one of several features of the same kind, part by part."""
    first = several[0]
    if not has_parts(first):
        return join(list(several))
    if isinstance(first, Mapping):
        return {name: join_parts(join, [x[name] for x in several]) for name in first}
    return tuple(join_parts(join, parts) for parts in zip(*several, strict=True))


def split_rows(features: Any, sizes: int | list[int]) -> Sequence[Any]:
    """Cut features into consecutive rows, as ``Tensor.split`` does."""
    if not has_parts(features):
        return features.split(sizes)
    if isinstance(features, Mapping):
        columns = [split_rows(part, sizes) for part in features.values()]
        rows = zip(*columns, strict=True)
        return [dict(zip(features, row, strict=True)) for row in rows]
    return list(zip(*(split_rows(part, sizes) for part in features), strict=True))


def copied(part: Any) -> Any:
    """Return a copy of a tensor, and anything else as it is."""
    return part.clone() if isinstance(part, Tensor) else part


def on_device(features: Any, device: str | torch.device) -> Any:
    """Return features, or a whole batch, on a device.

    A copy to a GPU goes through pinned memory, so that nothing waits for its end.
    """
    to_gpu = torch.device(device).type == "cuda"

    def moved(part: Any) -> Any:
        is_here = isinstance(part, Tensor) and part.is_cpu and part.numel() > 0
        if to_gpu and is_here and part.layout is torch.strided:
            return part.pin_memory().to(device, non_blocking=True)
        return part.to(device) if hasattr(part, "to") else part

    return map_parts(moved, features)


def shapes_of(features: Any) -> Any:
    """Return the shape of the features as a tuple, or that of each part."""
    return map_parts(lambda part: tuple(part.shape), features)


def as_features(values: Any) -> Any:
    """Return arrays and numbers as tensors, and float64 as float32.

    Integers stay integers, since they may be numbers of words or categories.
    """
    return map_parts(_as_tensor, values)


def _as_tensor(value: Any) -> Any:
    if isinstance(value, (np.ndarray, np.generic, int, float)):
        value = torch.as_tensor(value)
    if isinstance(value, Tensor) and value.dtype == torch.float64:
        return value.to(torch.float32)
    return value


def logits_of(output: Any) -> Any:
    """Return the logits in what a module returned.

    They are the output itself, its attribute ``logits`` as in the transformers library,
    or the first of several outputs as in skorch.
    """
    if isinstance(output, Tensor):
        return output
    if hasattr(output, "logits"):
        return output.logits
    return output[0] if isinstance(output, (tuple, list)) and output else output
