"""Validation of the input shape of image networks."""

from collections.abc import Sequence
from numbers import Integral
from typing import Any


def check_size(network: str, name: str, size: Any) -> int:
    """Return a number of features, classes or units, and raise if it is not one."""
    if not isinstance(size, Integral) or size < 1:
        raise ValueError(f"{network} needs {name} to be a positive int, got {size!r}.")
    return int(size)


def check_input_shape(
    network: str, input_shape: Any, min_size: int = 1
) -> tuple[int, int, int]:
    """Return channels, height and width, and raise if they are not those of images."""
    is_sequence = isinstance(input_shape, Sequence) and not isinstance(input_shape, str)
    shape = tuple(input_shape) if is_sequence else input_shape
    is_size = is_sequence and all(isinstance(n, Integral) and int(n) > 0 for n in shape)
    if not is_size or len(shape) != 3:
        raise ValueError(
            f"{network} needs images, input_shape=(channels, height, width), but got "
            f"input_shape={shape}. Use MLP for tabular data, or reshape X to "
            "(n_samples, channels, height, width)."
        )
    if min(shape[1:]) < min_size:
        raise ValueError(
            f"{network} needs images of at least {min_size} x {min_size} pixels, but "
            f"got input_shape={shape}. Resize the images, or use SmallCNN, which "
            "accepts any size."
        )
    return shape
