"""Read image files into one array."""

from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

import numpy as np
from numpy.typing import NDArray

#: File name extensions of images.
IMAGE_ENDINGS = frozenset(
    {".bmp", ".gif", ".jpeg", ".jpg", ".pgm", ".png", ".ppm", ".tif", ".tiff", ".webp"}
)


def image_files(folder: Path) -> list[Path]:
    """Return the image files in a folder, sorted by name."""
    return sorted(
        path
        for path in folder.iterdir()
        if path.suffix.lower() in IMAGE_ENDINGS and not path.name.startswith(".")
    )


def read_images(
    loader: str,
    files: Sequence[Path],
    image_size: int | tuple[int, int] | None = None,
    *,
    grayscale: bool = False,
) -> NDArray[np.uint8]:
    """Return the pixels of all files, of shape (n, channels, height, width)."""
    pillow = _pillow(loader)
    size = (image_size, image_size) if isinstance(image_size, int) else image_size
    first = _decode(pillow, loader, files[0], size, grayscale)
    X = np.empty((len(files), *first.shape), dtype=np.uint8)
    for row, file in enumerate(files):
        pixels = _decode(pillow, loader, file, size, grayscale)
        if pixels.shape != first.shape:
            raise ValueError(
                f"{loader} needs images of the same size, but got {_size(first)} "
                f"pixels in {str(files[0])!r} and {_size(pixels)} in {str(file)!r}. "
                "Pass image_size to resize all images."
            )
        X[row] = pixels
    return X


def _decode(
    pillow: ModuleType,
    loader: str,
    file: Path,
    size: tuple[int, int] | None,
    grayscale: bool,
) -> NDArray[np.uint8]:
    mode = "L" if grayscale else "RGB"
    try:
        with pillow.open(file) as image:
            if size is not None:
                # Decodes a JPEG at reduced size, which is faster.
                image.draft(mode, size[::-1])
            image = image.convert(mode)
    except OSError as error:
        raise ValueError(
            f"{loader} cannot decode the image {str(file)!r}: {error}. Replace or "
            "remove it."
        ) from None
    if size is not None and image.size != size[::-1]:
        image = image.resize(size[::-1], pillow.Resampling.BILINEAR)
    pixels = np.asarray(image)
    return pixels[None] if grayscale else pixels.transpose(2, 0, 1)


def _size(pixels: NDArray) -> str:
    return f"{pixels.shape[1]} x {pixels.shape[2]}"


def _pillow(loader: str) -> ModuleType:
    try:
        from PIL import Image
    except ImportError:
        raise ImportError(
            f"{loader} needs Pillow to decode images, but it is not installed. Install "
            "it with 'python -m pip install pillow'."
        ) from None
    return Image
