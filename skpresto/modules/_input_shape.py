"""What an image network asks of the images."""

from typing import Any


def check_input_shape(
    network: str, input_shape: Any, min_size: int = 1
) -> tuple[int, int, int]:
    """Return channels, height and width, or say why the network cannot take them."""
    shape = tuple(input_shape)
    if len(shape) != 3 or min(shape) < 1:
        raise ValueError(
            f"{network} needs images, input_shape=(channels, height, width), got "
            f"input_shape={shape}. Use MLP for tables, or reshape X to (n_samples, "
            "channels, height, width)."
        )
    if min(shape[1:]) < min_size:
        raise ValueError(
            f"{network} needs images of at least {min_size} x {min_size} pixels, got "
            f"input_shape={shape}. Enlarge the images or use SmallCNN, which takes "
            "any size."
        )
    return shape
