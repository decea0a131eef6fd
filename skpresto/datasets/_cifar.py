"""CIFAR-10 and CIFAR-100, from the files of the Python version."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Bunch

from skpresto.datasets._arrays import as_bunch, as_labels, check_balance, check_count
from skpresto.datasets._pickles import read_pickle
from skpresto.datasets._source import Source

_HOME = "https://www.cs.toronto.edu/~kriz/cifar.html"


@dataclass(frozen=True)
class Cifar:
    """The differences between the two data sets."""

    source: Source
    train_files: tuple[str, ...]
    test_file: str
    meta_file: str
    label_key: str
    names_key: str
    n_classes: int


CIFAR10 = Cifar(
    Source(
        loader="load_cifar10",
        title="CIFAR-10 (python version)",
        home=f"{_HOME} (cifar-10-python.tar.gz)",
        folders=("cifar-10-batches-py", "cifar-10", "cifar-10-python"),
    ),
    train_files=tuple(f"data_batch_{i}" for i in range(1, 6)),
    test_file="test_batch",
    meta_file="batches.meta",
    label_key="labels",
    names_key="label_names",
    n_classes=10,
)
CIFAR100 = Cifar(
    Source(
        loader="load_cifar100",
        title="CIFAR-100 (python version)",
        home=f"{_HOME} (cifar-100-python.tar.gz)",
        folders=("cifar-100-python", "cifar-100"),
    ),
    train_files=("train",),
    test_file="test",
    meta_file="meta",
    label_key="fine_labels",
    names_key="fine_label_names",
    n_classes=100,
)


def load_cifar10(
    folder: str | os.PathLike | None = None,
    *,
    normalize: bool = False,
    check_counts: bool = True,
) -> Bunch:
    """Load CIFAR-10: 50,000 training and 10,000 test images, ten classes.

    Colour images of 32x32 pixels. The labels are correct. Add noise with
    :mod:`skpresto.noise`, or use :func:`load_cifar10n` for noisy labels of human
    annotators.

    Parameters
    ----------
    folder : path, default=None
        Folder ``cifar-10-batches-py``, or the one above it. By default the folder that
        the environment variable ``SKPRESTO_DATA`` names.
    normalize : bool, default=False
        Return float32 instead of uint8, with mean 0 and standard deviation 1 of each
        colour channel over the training images.
    check_counts : bool, default=True
        Check that the number of images of each class is the published one.

    Returns
    -------
    data : Bunch
        ``X_train`` (50000, 3, 32, 32), ``y_train``, ``X_test``, ``y_test``, and
        ``classes``, the names of the classes.

    Examples
    --------
    >>> from skpresto.datasets import load_cifar10
    >>> data = load_cifar10("~/data", normalize=True)  # doctest: +SKIP
    >>> data.X_train.shape  # doctest: +SKIP
    (50000, 3, 32, 32)
    """
    return as_bunch(normalize, **read_cifar(CIFAR10, folder, check_counts))


def load_cifar100(
    folder: str | os.PathLike | None = None,
    *,
    normalize: bool = False,
    check_counts: bool = True,
) -> Bunch:
    """Load CIFAR-100: 50,000 training and 10,000 test images, 100 classes.

    Colour images of 32x32 pixels. The labels are the "fine" ones, and are correct. Add
    noise with :mod:`skpresto.noise`, or use :func:`load_cifar100n` for noisy labels of
    human annotators.

    Parameters
    ----------
    folder : path, default=None
        Folder ``cifar-100-python``, or the one above it. By default the folder that the
        environment variable ``SKPRESTO_DATA`` names.
    normalize : bool, default=False
        Return float32 instead of uint8, with mean 0 and standard deviation 1 of each
        colour channel over the training images.
    check_counts : bool, default=True
        Check that the number of images of each class is the published one.

    Returns
    -------
    data : Bunch
        ``X_train`` (50000, 3, 32, 32), ``y_train``, ``X_test``, ``y_test``, and
        ``classes``, the names of the classes.

    Examples
    --------
    >>> from skpresto.datasets import load_cifar100
    >>> data = load_cifar100("~/data")  # doctest: +SKIP
    """
    return as_bunch(normalize, **read_cifar(CIFAR100, folder, check_counts))


def read_cifar(
    cifar: Cifar, folder: str | os.PathLike | None, check_counts: bool
) -> dict[str, NDArray]:
    """Return images, labels and the names of the classes."""
    source = cifar.source
    path = source.find(folder, cifar.train_files[0], cifar.meta_file)
    batches = [_read_batch(cifar, source.file(path, n)) for n in cifar.train_files]
    X_train, y_train = (np.concatenate(parts) for parts in zip(*batches, strict=True))
    X_test, y_test = _read_batch(cifar, source.file(path, cifar.test_file))
    if check_counts:
        check_published_counts(cifar, y_train, y_test)
    return {
        "X_train": X_train,
        "y_train": y_train,
        "X_test": X_test,
        "y_test": y_test,
        "classes": _read_names(cifar, source.file(path, cifar.meta_file)),
    }


def check_published_counts(cifar: Cifar, y_train: NDArray, y_test: NDArray) -> None:
    """Raise if the number of images of a class is not the published one."""
    for what, y, n in [("training", y_train, 50_000), ("test", y_test, 10_000)]:
        check_count(cifar.source, f"{what} images", len(y), n)
        check_balance(cifar.source, f"{what} images", y, cifar.n_classes)


def _read_batch(cifar: Cifar, path: Path) -> tuple[NDArray, NDArray]:
    batch = _read_dict(cifar, path, "data", cifar.label_key)
    pixels = batch["data"]
    y = as_labels(cifar.source, batch[cifar.label_key], cifar.n_classes, path)
    found = getattr(pixels, "dtype", type(pixels)), getattr(pixels, "shape", ())
    if found != (np.uint8, (len(y), 3072)):
        raise cifar.source.damaged(
            path,
            f"expected {len(y)} rows of 3072 bytes, got {found[0]} of shape {found[1]}",
        )
    return np.asarray(pixels).reshape(-1, 3, 32, 32), y


def _read_names(cifar: Cifar, path: Path) -> NDArray:
    names = _read_dict(cifar, path, cifar.names_key)[cifar.names_key]
    names = [_text(name) for name in names] if isinstance(names, list) else []
    names = [name for name in names if isinstance(name, str)]
    if len(names) != cifar.n_classes:
        raise cifar.source.damaged(
            path, f"expected {cifar.n_classes} names of classes, got {len(names)}"
        )
    return np.array(names)


def _read_dict(cifar: Cifar, path: Path, *keys: str) -> dict[str, Any]:
    content = read_pickle(cifar.source, path)
    if not isinstance(content, dict):
        kind = type(content).__name__
        raise cifar.source.damaged(path, f"expected a dict, got a {kind}")
    named = {_text(key): value for key, value in content.items()}
    if not set(keys) <= set(named):
        raise cifar.source.damaged(
            path, f"expected a dict with keys {list(keys)}, got {list(named)}"
        )
    return named


def _text(name: Any) -> Any:
    """Return a name as str; files written by Python 2 contain bytes."""
    return name.decode("latin1") if isinstance(name, bytes) else name
