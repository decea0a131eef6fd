"""ANIMAL-10N: images of animals with labels of human annotators."""

import os
from functools import partial
from os.path import isdir, isfile
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Bunch

from skpresto.datasets._arrays import as_bunch, as_labels, check_count
from skpresto.datasets._pictures import MAX_PIXELS, Decoding, image_files, read_images
from skpresto.datasets._source import Source

_SOURCE = Source(
    loader="load_animal10n",
    title="ANIMAL-10N",
    home="https://dm.kaist.ac.kr/datasets/animal-10n",
    folders=("ANIMAL-10N", "raw_image_ver", "raw_image", "binary_ver", "binary"),
    below=("raw_image", "binary"),
)
_CLASSES = (
    "cat",
    "lynx",
    "wolf",
    "coyote",
    "cheetah",
    "jaguar",
    "chimpanzee",
    "orangutan",
    "hamster",
    "guinea pig",
)
_SIZE = 64

#: A record of the binary version: two big-endian integers and the pixels.
_RECORD = np.dtype(
    [("id", ">u4"), ("label", ">u4"), ("pixels", "u1", (3, _SIZE, _SIZE))]
)


def load_animal10n(
    folder: str | os.PathLike | None = None,
    *,
    normalize: bool = False,
    check_counts: bool = True,
    max_pixels: int | None = MAX_PIXELS,
    follow_symlinks: bool = False,
) -> Bunch:
    """Load ANIMAL-10N: 50,000 images of ten animals, five pairs of similar ones.

    Human annotators labelled the training images; about 8 % of their labels are wrong
    [1]_. The true labels are not known, so there is no ``y_train``. The labels of the
    5,000 test images are correct.

    Both published versions can be read: raw images in ``training`` and ``testing``,
    named ``<label>_<name>.jpg``, and the binary version, ``data_batch_1.bin`` and so on
    and ``test_batch.bin``, whose records are the number of the image (4 bytes), its
    label (4 bytes) and 3x64x64 pixels. Raw images require Pillow.

    Parameters
    ----------
    folder : path, default=None
        Folder of the data set, or the one above it. By default the folder that the
        environment variable ``SKPRESTO_DATA`` names.
    normalize : bool, default=False
        Return float32 instead of uint8, with mean 0 and standard deviation 1 of each
        colour channel over the training images.
    check_counts : bool, default=True
        Check that the number of images is the published one.
    max_pixels : int, default=100,000,000
        Largest image to decode. A small file can contain a huge image, which would
        fill the memory. None means the limit of Pillow.
    follow_symlinks : bool, default=False
        Whether an image may be a symbolic link to a file elsewhere.

    Returns
    -------
    data : Bunch
        ``X_train`` (50000, 3, 64, 64), ``y_noisy``, ``files_train`` (names of the raw
        images, or numbers of the images in the binary version), ``X_test``, ``y_test``,
        ``files_test``, and ``classes``, the names of the classes.

    References
    ----------
    .. [1] H. Song, M. Kim, J.-G. Lee: SELFIE: Refurbishing Unclean Samples for Robust
       Deep Learning. ICML 2019.

    Examples
    --------
    >>> from skpresto.datasets import load_animal10n
    >>> data = load_animal10n("~/data")  # doctest: +SKIP
    >>> str(data.classes[data.y_noisy[0]])  # doctest: +SKIP
    'cat'
    """
    decoding = Decoding(_SIZE, False, max_pixels, follow_symlinks)
    decoding.check(_SOURCE.loader)
    place = _SOURCE.find(folder, "data_batch_1.bin", "training/")
    is_binary = isfile(place / "data_batch_1.bin")
    read = _read_binary if is_binary else partial(_read_raw, decoding=decoding)
    entries = read(place, "train") | read(place, "test")
    if check_counts:
        check_count(_SOURCE, "training images", len(entries["y_train"]), 50_000)
        check_count(_SOURCE, "test images", len(entries["y_test"]), 5_000)
    entries["y_noisy"] = entries.pop("y_train")
    return as_bunch(normalize, **entries, classes=np.array(_CLASSES))


def _read_raw(place: Path, name: str, decoding: Decoding) -> dict[str, NDArray]:
    folder = place / f"{name}ing"
    files = image_files(_SOURCE, folder) if isdir(folder) else []
    if not files:
        raise _SOURCE.missing(f"images in '{folder.name}/'", place)
    labels = [_label_in_name(file) for file in files]
    return {
        f"X_{name}": read_images(_SOURCE.loader, folder, files, decoding),
        f"y_{name}": as_labels(_SOURCE, labels, len(_CLASSES), folder),
        f"files_{name}": np.array([file.name for file in files]),
    }


def _label_in_name(file: Path) -> int:
    label, underscore, _ = file.name.partition("_")
    if not underscore or not label.isdecimal():
        raise _SOURCE.damaged(file, "its name must be like '3_img_12.jpg'")
    return int(label)


def _read_binary(place: Path, name: str) -> dict[str, NDArray]:
    files = sorted(place.glob("data_batch_*.bin"), key=_number_in_name)
    if name == "test":
        files = [_SOURCE.file(place, "test_batch.bin")]
    records = np.concatenate([_read_records(file) for file in files])
    labels = records["label"].astype(int)
    return {
        f"X_{name}": np.ascontiguousarray(records["pixels"]),
        f"y_{name}": as_labels(_SOURCE, labels, len(_CLASSES), files[0]),
        f"files_{name}": records["id"].astype(str),
    }


def _number_in_name(file: Path) -> int:
    digits = file.stem.rpartition("_")[2]
    return int(digits) if digits.isdecimal() else 0


def _read_records(file: Path) -> NDArray:
    content = _SOURCE.read_bytes(file)
    if not content or len(content) % _RECORD.itemsize:
        raise _SOURCE.damaged(
            file,
            f"expected records of {_RECORD.itemsize} bytes, got {len(content)} bytes",
        )
    return np.frombuffer(content, dtype=_RECORD)
