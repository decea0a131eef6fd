"""The user's ``collate_fn``, which makes a batch of a list of samples."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from skpresto._data.features import as_features


class CollatePairs:
    """Call a function of the user with pairs of features and label, as skorch does.

    The positions of training samples pass by it. Labels are class numbers.

    Parameters
    ----------
    collate_fn : callable
        Makes a pair of features and labels of a list of pairs. It must keep the order
        of the samples.
    name : str
        Name of the parameter, for messages.
    """

    def __init__(self, collate_fn: Callable[[list], Any], name: str) -> None:
        if not callable(collate_fn):
            raise TypeError(f"{name} must be a function, got {collate_fn!r}.")
        self.collate_fn = collate_fn
        self.name = name

    def __call__(self, items: list[tuple]) -> tuple:
        collated = self.collate_fn([(item[0], item[1]) for item in items])
        if not isinstance(collated, (tuple, list)) or len(collated) != 2:
            raise TypeError(
                f"{self.name} must return a pair of features and labels, got "
                f"{_description(collated)}. Return features of several parts as one "
                "dict or tuple."
            )
        labels = torch.as_tensor([int(item[1]) for item in items])
        if not _are_equal(collated[1], labels):
            raise ValueError(
                f"{self.name} must return the labels it is given, in the same order, "
                "since samples are known by their position in the batch. If it sorts "
                "samples by length, let it not (pack_padded_sequence takes "
                "enforce_sorted=False)."
            )
        # One column of positions for training samples, and none for others.
        positions = torch.as_tensor([item[2:] for item in items]).unbind(dim=1)
        return as_features(collated[0]), labels, *positions


def _description(collated: Any) -> str:
    name = type(collated).__name__
    is_sequence = isinstance(collated, (tuple, list))
    return f"a {name} of {len(collated)}" if is_sequence else f"a {name}"


def _are_equal(returned: Any, labels: Tensor) -> bool:
    try:
        returned = torch.as_tensor(returned).reshape(-1)
    except (TypeError, ValueError, RuntimeError):
        return False
    return returned.shape == labels.shape and bool((returned == labels).all())
