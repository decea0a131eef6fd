"""Images in one folder per class."""

import os
from collections.abc import Sequence
from os.path import isdir
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Bunch

from skpresto.datasets._pictures import MAX_PIXELS, Decoding, image_files, read_images
from skpresto.datasets._source import Source, as_path, in_data_folder

_SOURCE = Source(
    loader="load_image_folder",
    title="images in one folder per class",
    home="your own collection",
)


def load_image_folder(
    folder: str | os.PathLike | None = None,
    *,
    image_size: int | tuple[int, int] | None = None,
    grayscale: bool = False,
    classes: Sequence[str] | None = None,
    max_pixels: int | None = MAX_PIXELS,
    follow_symlinks: bool = False,
) -> Bunch:
    """Load images from one folder per class, ``<class>/<image>``.

    Parameters
    ----------
    folder : path, default=None
        Folder with the folders of the classes. A relative path that does not exist is
        searched in the folder that the environment variable ``SKPRESTO_DATA`` names,
        and None is that folder itself.
    image_size : int or (height, width), default=None
        Size to which images are resized, without keeping their aspect ratio. By default
        images are not resized, and must all have the same size.
    grayscale : bool, default=False
        Return one channel instead of red, green and blue.
    classes : sequence of str, default=None
        Names of the classes, in the order of their numbers. By default the names of
        the folders in alphabetical order. Pass ``classes`` of the training images
        to load test images with the same class numbers.
    max_pixels : int, default=100,000,000
        Largest image to decode. A small file can contain a huge image, which would
        fill the memory. None means the limit of Pillow.
    follow_symlinks : bool, default=False
        Whether an image may be a symbolic link to a file elsewhere.

    Returns
    -------
    data : Bunch
        ``X`` (n, channels, height, width) of uint8, ``y``, the class numbers,
        ``files``, the path of each image below ``folder``, and ``classes``.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from PIL import Image
    >>> from skpresto.datasets import load_image_folder
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for name in ["cat", "dog"]:
    ...         (Path(folder) / name).mkdir()
    ...         Image.new("RGB", (40, 30)).save(Path(folder) / name / "1.png")
    ...     data = load_image_folder(folder, image_size=8)
    >>> data.X.shape, data.y.tolist(), data.files.tolist()
    ((2, 3, 8, 8), [0, 1], ['cat/1.png', 'dog/1.png'])
    """
    decoding = Decoding(image_size, grayscale, max_pixels, follow_symlinks)
    decoding.check(_SOURCE.loader)
    if folder is not None:
        folder = in_data_folder(as_path(_SOURCE.loader, "folder", folder))
    base = _SOURCE.base(folder)
    found = [path.name for path in _SOURCE.entries(base) if _is_class(path)]
    names = found if classes is None else _checked(classes, found, base)
    files = [image_files(_SOURCE, base / name) for name in names]
    if not any(files):
        raise _SOURCE.missing("folders of images, <class>/<image>,", base)
    flat = [file for of_class in files for file in of_class]
    return Bunch(
        X=read_images(_SOURCE.loader, base, flat, decoding),
        y=_class_numbers(files),
        files=np.array([file.relative_to(base).as_posix() for file in flat]),
        classes=np.array(names),
    )


def _is_class(path: Path) -> bool:
    is_visible = isdir(path) and not path.name.startswith(".")
    return is_visible and bool(image_files(_SOURCE, path))


def _class_numbers(files: list[list[Path]]) -> NDArray[np.int64]:
    return np.repeat(np.arange(len(files)), [len(of_class) for of_class in files])


def _checked(classes: Sequence[str], found: list[str], base: Path) -> list[str]:
    names = [str(name) for name in classes]
    if isinstance(classes, str) or len(set(names)) < len(names):
        raise ValueError(
            "load_image_folder needs classes to be a sequence of different names, but "
            f"got {classes!r}."
        )
    unknown = sorted(set(found) - set(names))
    absent = [n for n in names if Path(n).name != n or not isdir(base / n)]
    if unknown or absent:
        raise ValueError(
            f"load_image_folder needs one folder in {str(base)!r} for each class, but "
            f"got the folders {unknown} that are not among classes, and the classes "
            f"{absent} without a folder. Add an empty folder for a class without "
            "images, and move other folders elsewhere."
        )
    return names
