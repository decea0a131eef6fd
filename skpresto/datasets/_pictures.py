"""Read image files into one array."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skpresto.datasets._arrays import is_count
from skpresto.datasets._packages import needed
from skpresto.datasets._source import Source

#: File name extensions of images.
IMAGE_ENDINGS = frozenset(
    {".bmp", ".gif", ".jpeg", ".jpg", ".pgm", ".png", ".ppm", ".tif", ".tiff", ".webp"}
)


#: Largest image that is decoded by default: 300 MB in memory.
MAX_PIXELS = 100_000_000


@dataclass(frozen=True)
class Decoding:
    """How images are read: the arguments that loaders of images have in common.

    Parameters
    ----------
    image_size : int, (height, width) or None
        Size to which images are resized.
    grayscale : bool
        Whether to return one channel.
    max_pixels : int or None
        Largest image to decode.
    follow_symlinks : bool
        Whether an image may be a symbolic link to a file outside of the folder.
    """

    image_size: int | tuple[int, int] | None = None
    grayscale: bool = False
    max_pixels: int | None = MAX_PIXELS
    follow_symlinks: bool = False

    @property
    def size(self) -> tuple[int, int] | None:
        """Height and width, or None."""
        size = self.image_size
        return (size, size) if isinstance(size, Integral) else size  # type: ignore[return-value]

    def check(self, loader: str) -> None:
        """Raise if an argument is not valid."""
        size = self.size
        is_pair = isinstance(size, (tuple, list)) and len(size) == 2
        if size is not None and not (is_pair and all(map(is_count, size))):
            raise ValueError(
                f"{loader} needs image_size to be a positive int or two of them, "
                f"(height, width), but got {self.image_size!r}."
            )
        limit = self.max_pixels
        if limit is not None and not is_count(limit):
            raise ValueError(
                f"{loader} needs max_pixels to be a positive int or None, but got "
                f"{limit!r}."
            )
        if size is not None and limit is not None and size[0] * size[1] > limit:
            raise ValueError(
                f"{loader} needs image_size to have at most max_pixels={limit} pixels, "
                f"but got {self.image_size!r}. Pass a smaller size or a larger limit."
            )


def image_files(source: Source, folder: Path) -> list[Path]:
    """Return the image files in a folder, sorted by name."""
    return [
        path
        for path in source.entries(folder)
        if path.suffix.lower() in IMAGE_ENDINGS and not path.name.startswith(".")
    ]


def read_images(
    loader: str, root: Path, files: Sequence[Path], decoding: Decoding
) -> NDArray[np.uint8]:
    """Return the pixels of files below ``root``, (n, channels, height, width)."""
    pillow = needed(loader, "PIL.Image", "Pillow", "decode images", "images")
    if not decoding.follow_symlinks:
        _check_links(loader, root, files)
    first = _decode(pillow, loader, files[0], decoding)
    X = _allocated(loader, (len(files), *first.shape))
    for row, file in enumerate(files):
        pixels = _decode(pillow, loader, file, decoding)
        if pixels.shape != first.shape:
            raise ValueError(
                f"{loader} needs images of the same size, but got {_size(first)} "
                f"pixels in {str(files[0])!r} and {_size(pixels)} in {str(file)!r}. "
                "Pass image_size to resize all images."
            )
        X[row] = pixels
    return X


def _check_links(loader: str, root: Path, files: Sequence[Path]) -> None:
    """Raise if a file is a symbolic link to another place than below ``root``."""
    inside = root.resolve()
    for file in files:
        target = file.resolve()
        if not target.is_relative_to(inside):
            raise ValueError(
                f"{loader} needs images in {str(root)!r}, but {str(file)!r} is a link "
                f"to {str(target)!r}. Copy the file, or pass follow_symlinks=True if "
                "you know where the links come from."
            )


def _allocated(loader: str, shape: tuple[int, ...]) -> NDArray[np.uint8]:
    try:
        return np.empty(shape, dtype=np.uint8)
    except (MemoryError, ValueError):
        n, channels, height, width = shape
        raise MemoryError(
            f"{loader} needs {n * channels * height * width / 1e9:.1f} GB for {n} "
            f"images of {height} x {width} pixels, which is more than there is. Pass a "
            "smaller image_size."
        ) from None


def _decode(
    pillow: ModuleType, loader: str, file: Path, decoding: Decoding
) -> NDArray[np.uint8]:
    mode, size = "L" if decoding.grayscale else "RGB", decoding.size
    try:
        with opened_image(pillow, file, decoding.max_pixels) as image:
            if size is not None:
                # Decodes a JPEG at reduced size, which is faster.
                image.draft(mode, size[::-1])
            image = image.convert(mode)
    except pillow.DecompressionBombError as error:
        raise ValueError(
            f"{loader} does not decode the image {str(file)!r}: {error}. Replace or "
            "remove it, or pass a larger max_pixels if there is memory for it (and "
            f"beyond {2 * pillow.MAX_IMAGE_PIXELS} raise PIL.Image.MAX_IMAGE_PIXELS)."
        ) from None
    except Exception as error:
        # Pillow raises errors of many types for damaged files.
        raise ValueError(
            f"{loader} cannot decode the image {str(file)!r}: {error}. Replace or "
            "remove it."
        ) from None
    if size is not None and image.size != size[::-1]:
        image = image.resize(size[::-1], pillow.Resampling.BILINEAR)
    pixels = np.asarray(image)
    return pixels[None] if decoding.grayscale else pixels.transpose(2, 0, 1)


def opened_image(pillow: ModuleType, file: Path, max_pixels: int | None) -> Any:
    """Return an image whose pixels are not decoded yet, if it is not too large."""
    with warnings.catch_warnings():
        # Pillow warns from half of its limit on; the limit here is max_pixels.
        warnings.simplefilter("ignore", pillow.DecompressionBombWarning)
        image = pillow.open(file)
    n_pixels = image.size[0] * image.size[1]
    if max_pixels is not None and n_pixels > max_pixels:
        image.close()
        raise pillow.DecompressionBombError(
            f"it has {n_pixels} pixels, more than max_pixels={max_pixels}"
        )
    return image


def _size(pixels: NDArray) -> str:
    return f"{pixels.shape[1]} x {pixels.shape[2]}"
