"""Validation of the input shape of image networks."""

from typing import Any


def check_input_shape(
    network: str, input_shape: Any, min_size: int = 1
) -> tuple[int, int, int]:
    """Return channels, height and width, and raise if they are not those of images."""
    shape = tuple(input_shape)
    if len(shape) != 3 or min(shape) < 1:
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
