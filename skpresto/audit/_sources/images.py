"""Images in one folder per class."""

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from skpresto.audit._page import ImageView
from skpresto.audit._sources.base import (
    EMBEDDINGS_HINT,
    LeftOut,
    Source,
    check_classes,
    classes_of_labels,
    fingerprint_of_strings,
)
from skpresto.audit._sources.patches import patch_features
from skpresto.datasets._pictures import IMAGE_ENDINGS, MAX_PIXELS, opened_image

#: Side to which images are resized for training.
SIDE = 32
_WAY_OUT = "It needs one folder with images per class."


@dataclass(frozen=True, kw_only=True)
class ImageSource(Source):
    """Images of a folder with one folder per class.

    Parameters
    ----------
    files : list of Path
        The images, one per label.
    found : list of Path
        The same with those that cannot be decoded.
    pixels : array of shape (n_samples, side, side, 3), dtype=uint8, default=None
        The images, resized to one size, unless they have embeddings.
    """

    files: list[Path]
    found: list[Path]
    pixels: NDArray[np.uint8] | None = None

    kind = "images"
    _per_sample: ClassVar = (*Source._per_sample, "files", "pixels")

    def features(self, seed: int) -> NDArray[np.float32]:
        """Return features of the images, learned without labels."""
        if self.pixels is None:
            return super().features(seed)
        return patch_features(self.pixels, seed)

    def view(self) -> ImageView:
        """Return what the page shows of an image."""
        return ImageView(lambda position: open_image(self.files[position]), self.files)

    def row_names(self) -> list[str]:
        """Return the path of each image below the folder."""
        return [_name(file, self.path) for file in self.files]

    def ids(self) -> pd.Series:
        """Return the paths, which are different."""
        return pd.Series(self.row_names(), name="path")

    def row_keys(self) -> list[Any]:
        """Return the paths of all images, with those that are left out."""
        return [_name(file, self.path) for file in self.found]


def read_image_folder(folder: Path, as_given: bool = False) -> ImageSource:
    """Read the images of a folder with one folder per class.

    Images that cannot be decoded, and files that are no images, are left out.

    Parameters
    ----------
    folder : Path
        The folder, with images in ``<class>/<image>``.
    as_given : bool, default=False
        Whether every spelling of a label is a class.
    """
    source = list_image_folder(folder, as_given)
    left_out, pixels = [], {}
    for row, file in enumerate(source.files):
        try:
            pixels[row] = np.asarray(open_image(file, SIDE).resize((SIDE, SIDE)))
        except Exception as error:  # decoders raise many kinds of errors
            reason = f"cannot be decoded ({str(error)[:80]})"
            left_out.append(LeftOut(_name(file, folder), reason))
    decoded = source.among(np.isin(np.arange(len(source.files)), list(pixels)))
    check_classes(decoded.labels, str(folder), _WAY_OUT)
    return replace(
        decoded,
        pixels=np.stack(list(pixels.values())),
        left_out=[*source.left_out, *left_out],
        notes=[EMBEDDINGS_HINT.format(what="images")],
    )


def list_image_folder(folder: Path, as_given: bool = False) -> ImageSource:
    """Return the images of a folder with one folder per class, without their pixels."""
    files = images_below(folder)
    if not files:
        raise ValueError(
            f"{folder} has no images in folders by class, <class>/<image>. Move the "
            "images of each class into a folder with its name."
        )
    images = set(files)
    labels = np.array([file.parent.name for file in files])
    return ImageSource(
        path=folder,
        fingerprint=fingerprint_of_folder(folder, files),
        **classes_of_labels(labels, str(folder), _WAY_OUT, as_given),
        rows=np.arange(len(files)),
        n_rows=len(files),
        left_out=[
            LeftOut(_name(file, folder), "not an image")
            for file in sorted(_files_by_class(folder))
            if file not in images
        ],
        files=files,
        found=files,
    )


def open_image(file: Path, side: int | None = None) -> Any:
    """Return a decoded image, upright and with three channels.

    Parameters
    ----------
    file : Path
        The image.
    side : int, default=None
        Side that is needed: large JPEG files are decoded at reduced size.
    """
    from PIL import Image, ImageOps

    with opened_image(Image, file, MAX_PIXELS) as image:
        if side is not None:
            image.draft("RGB", (2 * side, 2 * side))
        upright = ImageOps.exif_transpose(image)
        if upright.mode in ("P", "LA", "PA", "RGBA"):  # white behind transparency
            layered = upright.convert("RGBA")
            white = Image.new("RGBA", layered.size, "white")
            upright = Image.alpha_composite(white, layered)
        return _as_bytes(upright).convert("RGB")


def fingerprint_of_folder(folder: Path, files: list[Path]) -> str:
    """Return a hash of the names and sizes of the images in a folder."""
    return fingerprint_of_strings(
        f"{_name(file, folder)} {os.path.getsize(file)}" for file in files
    )


def images_below(folder: Path) -> list[Path]:
    """Return the images of a folder with one folder per class, by name."""
    base = folder.resolve()
    return sorted(file for file in _files_by_class(folder) if _is_image(file, base))


def _name(file: Path, folder: Path) -> str:
    return file.relative_to(folder).as_posix()


def _files_by_class(folder: Path) -> list[Path]:
    """Return the files of all classes, without hidden ones."""
    return [
        file
        for file in folder.glob("*/*")
        if not file.name.startswith(".") and not file.parent.name.startswith(".")
    ]


def _is_image(file: Path, base: Path) -> bool:
    """Return whether a file is an image, and not a link that leaves the folder."""
    if file.suffix.lower() not in IMAGE_ENDINGS or not file.is_file():
        return False
    return file.resolve().is_relative_to(base)


def _as_bytes(image: Any) -> Any:
    """Return an image with at most 8 bits per channel."""
    if not image.mode.startswith(("I", "F")):
        return image
    from PIL import Image

    values = np.asarray(image, dtype=np.float64)
    low, high = values.min(), values.max()
    scaled = 255 * (values - low) / ((high - low) or 1.0)
    return Image.fromarray(scaled.astype(np.uint8))
