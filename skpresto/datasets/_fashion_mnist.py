"""Fashion-MNIST, from its idx files or from an npz file."""

import math
import os
import zlib
from os.path import isfile
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Bunch

from skpresto.datasets._arrays import as_bunch, as_labels, check_balance, check_count
from skpresto.datasets._npz import load_npz
from skpresto.datasets._source import Source

_SOURCE = Source(
    loader="load_fashion_mnist",
    title="Fashion-MNIST",
    home="https://github.com/zalandoresearch/fashion-mnist",
    folders=("fashion-mnist", "dataset-fashion-mnist"),
    below=("raw", "data/fashion"),
)
_CLASSES = (
    "T-shirt/top",
    "Trouser",
    "Pullover",
    "Dress",
    "Coat",
    "Sandal",
    "Shirt",
    "Sneaker",
    "Bag",
    "Ankle boot",
)
_NPZ = "fashion_mnist.npz"
_FIRST_FILE = "train-images-idx3-ubyte"

#: Size of the largest file when decompressed, five times the published one.
_MAX_BYTES = 2**28


def load_fashion_mnist(
    folder: str | os.PathLike | None = None,
    *,
    normalize: bool = False,
    check_counts: bool = True,
) -> Bunch:
    """Load Fashion-MNIST: 60,000 training and 10,000 test images, ten classes.

    Grayscale images of 28x28 pixels. No label noise is known. Add noise with
    :mod:`skpresto.noise`.

    Parameters
    ----------
    folder : path, default=None
        Folder with the four idx files, compressed (``.gz``) or not, or with
        ``fashion_mnist.npz`` in the format of :func:`load_npz`; or the one above it. By
        default the folder that the environment variable ``SKPRESTO_DATA`` names.
    normalize : bool, default=False
        Return float32 instead of uint8, with mean 0 and standard deviation 1 over the
        training images.
    check_counts : bool, default=True
        Check that the number of images of each class is the published one.

    Returns
    -------
    data : Bunch
        ``X_train`` (60000, 1, 28, 28), ``y_train``, ``X_test``, ``y_test``, and
        ``classes``, the names of the classes.

    Examples
    --------
    >>> from skpresto.datasets import load_fashion_mnist
    >>> data = load_fashion_mnist("~/data")  # doctest: +SKIP
    >>> data.X_train.shape  # doctest: +SKIP
    (60000, 1, 28, 28)
    """
    first = (_FIRST_FILE, f"{_FIRST_FILE}.gz")
    place = _SOURCE.find(folder, *first, _NPZ)
    is_idx = any(isfile(place / name) for name in first)
    data = _read_idx_files(place) if is_idx else _read_npz(place / _NPZ)
    for name in ("train", "test"):
        _check(data, name, check_counts)
    return as_bunch(normalize, **data, classes=np.array(_CLASSES))


def _read_npz(path: Path) -> dict[str, NDArray]:
    data = load_npz(path)
    names = ("X_train", "y_train", "X_test", "y_test")
    if not set(names) <= set(data):
        raise _SOURCE.damaged(path, f"expected the arrays {names}")
    labels = {n: as_labels(_SOURCE, data[n], 10, path) for n in ("y_train", "y_test")}
    return {"X_train": data.X_train, "X_test": data.X_test, **labels}


def _read_idx_files(place: Path) -> dict[str, NDArray]:
    data = {}
    for name, start in [("train", "train"), ("test", "t10k")]:
        path = _idx_file(place, f"{start}-labels-idx1-ubyte")
        data[f"X_{name}"] = _read_idx(_idx_file(place, f"{start}-images-idx3-ubyte"))
        data[f"y_{name}"] = as_labels(_SOURCE, _read_idx(path), 10, path)
        if data[f"X_{name}"].ndim == 3:
            data[f"X_{name}"] = data[f"X_{name}"][:, None]
    return data


def _idx_file(place: Path, name: str) -> Path:
    packed = place / f"{name}.gz"
    return packed if isfile(packed) else _SOURCE.file(place, name)


def _read_idx(path: Path) -> NDArray[np.uint8]:
    """Return the array of bytes in an idx file.

    The file starts with the bytes 0, 0, 8 (for unsigned bytes) and the number of
    dimensions, followed by each dimension as a big-endian 32-bit integer and the array.
    """
    content = _SOURCE.read_bytes(path)
    if path.suffix == ".gz":
        content = _decompressed(path, content)
    n_dims = content[3] if len(content) > 3 and content[:3] == b"\x00\x00\x08" else 0
    start = 4 + 4 * n_dims
    if n_dims not in (1, 2, 3) or len(content) < start:
        raise _SOURCE.damaged(path, "it is not an idx file of bytes")
    shape = tuple(np.frombuffer(content, ">u4", n_dims, offset=4).tolist())
    if len(content) - start != math.prod(shape):
        raise _SOURCE.damaged(
            path,
            f"expected an array of shape {shape}, got {len(content) - start} bytes",
        )
    return np.frombuffer(content, np.uint8, offset=start).reshape(shape).copy()


def _decompressed(path: Path, content: bytes) -> bytes:
    unpacker = zlib.decompressobj(wbits=zlib.MAX_WBITS + 16)  # with a gzip header
    try:
        unpacked = unpacker.decompress(content, _MAX_BYTES)
    except zlib.error as error:
        raise _SOURCE.damaged(path, f"it cannot be decompressed ({error})") from None
    if not unpacker.eof:
        raise _SOURCE.damaged(
            path,
            f"it is cut off, or has more than {_MAX_BYTES} bytes when decompressed",
        )
    return unpacked


def _check(data: dict[str, NDArray], name: str, check_counts: bool) -> None:
    X, y = data[f"X_{name}"], data[f"y_{name}"]
    if X.shape != (len(y), 1, 28, 28) or X.dtype != np.uint8:
        raise ValueError(
            f"{_SOURCE.loader} needs {len(y)} images of 28x28 bytes for {len(y)} "
            f"{name} labels, but got an array of dtype {X.dtype} and shape {X.shape}. "
            f"Download the files again from {_SOURCE.home}."
        )
    if check_counts:
        check_count(
            _SOURCE, f"{name} images", len(y), 60_000 if name == "train" else 10_000
        )
        check_balance(_SOURCE, f"{name} images", y, len(_CLASSES))
