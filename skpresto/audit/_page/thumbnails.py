"""Small images as data addresses, within the space that a page has for them."""

import base64
import io
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: Bytes that all images of a page may take together, in base64.
_BUDGET = 4_200_000
#: Longest sides that are tried, from large to small.
_SIDES = (480, 320, 240, 160, 128, 96, 64, 48)
_N_PROBES = 24
_QUALITY = 78


def thumbnails(
    open_image: Callable[[int], Any], positions: NDArray[np.intp]
) -> list[str]:
    """Return images as data addresses, as large as fits into a page.

    Parameters
    ----------
    open_image : callable
        Returns a Pillow image for a position.
    positions : array of int
        The images.
    """
    side = _side_that_fits(open_image, positions)
    return [data_address(open_image(int(position)), side) for position in positions]


def data_address(image: Any, side: int) -> str:
    """Return an image with at most ``side`` pixels per side as a data address."""
    image = image.convert("RGB")
    image.thumbnail((side, side))
    out = io.BytesIO()
    is_small = max(image.size) <= 16
    image.save(out, "PNG" if is_small else "JPEG", quality=_QUALITY, optimize=True)
    kind = "png" if is_small else "jpeg"
    return f"data:image/{kind};base64,{base64.b64encode(out.getvalue()).decode()}"


def array_image(pixels: NDArray[Any], low: float, high: float) -> Any:
    """Return pixels of shape (channels, height, width) or (..., channels) as image."""
    from PIL import Image

    values = np.asarray(pixels)
    if values.dtype != np.uint8:
        scaled = (values.astype(np.float64) - low) / ((high - low) or 1.0)
        values = (255 * scaled).round().astype(np.uint8)
    if values.shape[0] in (1, 3):
        values = values.transpose(1, 2, 0)
    return Image.fromarray(values[..., 0] if values.shape[-1] == 1 else values[..., :3])


def _side_that_fits(
    open_image: Callable[[int], Any], positions: NDArray[np.intp]
) -> int:
    """Return the largest side at which all images are expected to fit."""
    probes = positions[:: max(len(positions) // _N_PROBES, 1)][:_N_PROBES]
    images = [open_image(int(position)) for position in probes]
    for side in _SIDES:
        sizes = [len(data_address(image.copy(), side)) for image in images]
        if np.mean(sizes or [0]) * len(positions) <= _BUDGET:
            return side
    return _SIDES[-1]
