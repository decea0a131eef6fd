"""FOOD-101N: images of dishes, labelled by the search query they were found with."""

import os
import re
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Bunch

from skpresto.datasets._arrays import as_bunch, check_count
from skpresto.datasets._pictures import MAX_PIXELS, Decoding, read_images
from skpresto.datasets._source import Source

_SOURCE = Source(
    loader="load_food101n",
    title="FOOD-101N",
    home="https://kuanghuei.github.io/Food-101N/",
    folders=("Food-101N_release", "Food-101N"),
)
_TEST_SOURCE = Source(
    loader="load_food101n",
    title="Food-101, the test set of FOOD-101N (not needed for with_test=False)",
    home="https://data.vision.ee.ethz.ch/cvl/datasets_extra/food-101/",
    folders=("food-101",),
)
_N_CLASSES = 101

#: Published number of lines of each list.
_N_PUBLISHED = {
    "verified_train.tsv": 52_868,
    "verified_val.tsv": 4_741,
    "imagelist.tsv": 310_009,
    "test.txt": 25_250,
}


def load_food101n(
    folder: str | os.PathLike | None = None,
    *,
    subset: str = "verified",
    image_size: int | tuple[int, int] = 64,
    with_test: bool = True,
    normalize: bool = False,
    check_counts: bool = True,
    max_pixels: int | None = MAX_PIXELS,
    follow_symlinks: bool = False,
) -> Bunch:
    """Load FOOD-101N: images of 101 dishes, found by searching for their names.

    About one in five labels is wrong [1]_. The labels of a part of the images have been
    verified by human annotators, as correct or wrong. The test set are the test images
    of Food-101 [2]_, which must be in the same folder. Decoding requires Pillow.

    Parameters
    ----------
    folder : path, default=None
        Folder with ``Food-101N_release`` and ``food-101``. By default the folder that
        the environment variable ``SKPRESTO_DATA`` names.
    subset : {"verified", "all"}, default="verified"
        Training images: the 52,868 with verified labels, as in the Prestopping paper,
        or all but the validation images, about 305,000.
    image_size : int or (height, width), default=64
        Size to which images are resized. All 305,000 need 3.8 GB at 64x64.
    with_test : bool, default=True
        Whether to load the test images of Food-101.
    normalize : bool, default=False
        Return float32 instead of uint8, with mean 0 and standard deviation 1 of each
        colour channel over the training images.
    check_counts : bool, default=True
        Check that the number of images in the lists is the published one.
    max_pixels : int, default=100,000,000
        Largest image to decode. A small file can contain a huge image, which would
        fill the memory. None means the limit of Pillow.
    follow_symlinks : bool, default=False
        Whether an image may be a symbolic link to a file outside of ``images``.

    Returns
    -------
    data : Bunch
        ``X_train`` (n, 3, height, width), ``y_noisy``, ``verified_train`` (1 if the
        label is correct, 0 if it is wrong, -1 if it is not verified), ``files_train``;
        ``X_valid``, ``y_valid``, ``files_valid``, the validation images with correct
        labels; ``X_test``, ``y_test``, ``files_test``; and ``classes``, the names of
        the classes.

    References
    ----------
    .. [1] K.-H. Lee, X. He, L. Zhang, L. Yang: CleanNet: Transfer Learning for
       Scalable Image Classifier Training with Label Noise. CVPR 2018.
    .. [2] L. Bossard, M. Guillaumin, L. Van Gool: Food-101 - Mining Discriminative
       Components with Random Forests. ECCV 2014.

    Examples
    --------
    >>> from skpresto.datasets import load_food101n
    >>> data = load_food101n("~/data")  # doctest: +SKIP
    >>> round((data.verified_train == 0).mean(), 2)  # doctest: +SKIP
    0.18
    """
    if subset not in ("verified", "all"):
        raise ValueError(
            f"load_food101n needs subset to be 'verified' or 'all', but got {subset!r}."
        )
    decoding = Decoding(image_size, False, max_pixels, follow_symlinks)
    decoding.check(_SOURCE.loader)
    place = _SOURCE.find(folder, "meta/verified_train.tsv", "meta/classes.txt")
    classes = _read_classes(place)
    verified_labels = _read_verified(place, "verified_train.tsv", check_counts)
    valid = _read_verified(place, "verified_val.tsv", check_counts)
    listed = list(verified_labels)
    if subset == "all":
        listed = _read_lines(_SOURCE, place, "imagelist.tsv", check_counts)
    keys = [key for key in listed if key not in valid]

    entries = _read_split(_SOURCE, place, keys, classes, decoding, "train")
    entries["y_noisy"] = entries.pop("y_train")
    verified = np.array([verified_labels.get(key, -1) for key in keys], dtype=np.int8)
    correct = [key for key, is_correct in valid.items() if is_correct]
    entries |= _read_split(_SOURCE, place, correct, classes, decoding, "valid")
    if with_test:
        place = _TEST_SOURCE.find(folder, "meta/test.txt")
        keys = _read_lines(_TEST_SOURCE, place, "test.txt", check_counts)
        keys = [f"{key}.jpg" for key in keys]
        entries |= _read_split(_TEST_SOURCE, place, keys, classes, decoding, "test")
    return as_bunch(
        normalize, **entries, verified_train=verified, classes=np.array(classes)
    )


def _read_lines(
    source: Source, place: Path, name: str, check_counts: bool
) -> list[str]:
    """Return the lines of a list, without its header."""
    path = source.file(place, f"meta/{name}")
    lines = source.read_text(path).splitlines()
    rows = [line for line in lines if line and not line.startswith("class_name")]
    if check_counts:
        check_count(source, f"lines of {name}", len(rows), _N_PUBLISHED[name])
    if not rows:
        raise source.damaged(path, "expected at least one line")
    return rows


def _read_classes(place: Path) -> list[str]:
    path = _SOURCE.file(place, "meta/classes.txt")
    lines = _SOURCE.read_text(path).split()
    names = [name for name in lines if name != "class_name"]
    if len(set(names)) != _N_CLASSES:
        raise _SOURCE.damaged(
            path, f"expected {_N_CLASSES} names of classes, got {len(set(names))}"
        )
    return names


def _read_verified(place: Path, name: str, check_counts: bool) -> dict[str, int]:
    """Return 1 or 0 for each verified image: whether its label is correct."""
    lines = _read_lines(_SOURCE, place, name, check_counts)
    for line in lines:
        if not re.fullmatch(r"[^\t]+\t[01]", line):
            raise _SOURCE.damaged(
                place / "meta" / name,
                f"expected lines of an image, a tab, and 0 or 1, got {line!r}",
            )
    return {line[:-2]: int(line[-1]) for line in lines}


def _read_split(
    source: Source,
    place: Path,
    keys: Sequence[str],
    classes: list[str],
    decoding: Decoding,
    name: str,
) -> dict[str, NDArray]:
    """Return images and labels of ``keys``, which are ``<class>/<file>``."""
    if not keys:
        raise source.damaged(place / "meta", f"no image is listed for X_{name}")
    number = {dish: i for i, dish in enumerate(classes)}
    dishes = [key.partition("/")[0] for key in keys]
    unknown = sorted(set(dishes) - set(classes))
    if unknown:
        raise source.damaged(place / "meta", f"{unknown} are not among the classes")
    strange = next((key for key in keys if not _is_image_of_class(key)), None)
    if strange is not None:
        raise source.damaged(
            place / "meta", f"expected lines of <class>/<image>, got {strange!r}"
        )
    files = [source.file(place, f"images/{key}") for key in keys]
    return {
        f"X_{name}": read_images(source.loader, place / "images", files, decoding),
        f"y_{name}": np.array([number[dish] for dish in dishes], dtype=np.int64),
        f"files_{name}": np.array(keys),
    }


def _is_image_of_class(key: str) -> bool:
    """Return whether a line names a file in the folder of a class, and none above."""
    parts = PurePosixPath(key).parts
    return len(parts) == 2 and ".." not in parts and not set(key) & set("\\\0")
