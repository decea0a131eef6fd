"""CIFAR-10N and CIFAR-100N: CIFAR with labels of human annotators."""

import io
import os
from dataclasses import dataclass, replace
from os.path import isfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Bunch

from skpresto.datasets._arrays import as_bunch, as_labels
from skpresto.datasets._cifar import CIFAR10, CIFAR100, Cifar, read_cifar
from skpresto.datasets._pickles import read_pickled_npy, read_torch
from skpresto.datasets._source import Source

_HOME = "https://github.com/UCSC-REAL/cifar-10-100n"


@dataclass(frozen=True)
class CifarN:
    """The differences between the two sets of labels."""

    source: Source
    cifar: Cifar
    #: Labels in the order of the images; preferred.
    torch_file: str
    #: Labels in the order of TensorFlow Datasets, except in the first release.
    numpy_files: tuple[str, ...]
    #: Position of each row of a numpy file among the images.
    order_file: str
    #: For each set of labels, its possible names in the files.
    keys: dict[str, tuple[str, ...]]


def _labels_of(cifar: Cifar, number: int, keys: dict) -> CifarN:
    name, loader = f"CIFAR-{number}", f"load_cifar{number}n"
    return CifarN(
        Source(
            loader=loader,
            title=f"{name}N",
            home=f"{_HOME} (folder data)",
            folders=(f"{name}N", "cifar-10-100n", "cifar-n", "data", "noise_label")
            + cifar.source.folders,
            below=("data",),
        ),
        replace(cifar, source=replace(cifar.source, loader=loader)),
        torch_file=f"{name}_human.pt",
        numpy_files=(f"{name}_human_ordered.npy", f"{name}_human.npy"),
        order_file=f"image_order_c{number}.npy",
        keys=keys,
    )


CIFAR10N = _labels_of(
    CIFAR10,
    10,
    {
        "aggregate": ("aggre_label",),
        "random1": ("random_label1",),
        "random2": ("random_label2",),
        "random3": ("random_label3",),
        "worst": ("worse_label",),
    },
)
CIFAR100N = _labels_of(CIFAR100, 100, {"noisy": ("noisy_label", "noise_label")})


def load_cifar10n(
    folder: str | os.PathLike | None = None,
    *,
    noise: str = "worst",
    normalize: bool = False,
    check_counts: bool = True,
) -> Bunch:
    """Load CIFAR-10 with noisy labels of three human annotators per training image.

    Real, instance-dependent noise: whether and how an image is mislabelled depends on
    the image [1]_.

    Parameters
    ----------
    folder : path, default=None
        Folder with CIFAR-10 and ``CIFAR-10_human.pt``, in it or in folders in it. By
        default the folder that the environment variable ``SKPRESTO_DATA`` names.
        ``CIFAR-10_human_ordered.npy`` can be used too, together with
        ``image_order_c10.npy``, because its rows are in another order.
    noise : {"worst", "aggregate", "random1", "random2", "random3"}, default="worst"
        Which labels to return as ``y_noisy``: a wrong label if any of the three is
        wrong (40.2 % noise), their majority (9.0 %), or the first, second or third
        label (17.2 %, 18.1 %, 17.6 %).
    normalize : bool, default=False
        Return float32 instead of uint8, with mean 0 and standard deviation 1 of each
        colour channel over the training images.
    check_counts : bool, default=True
        Check that the number of images of each class is the published one. The order
        of the labels is always checked.

    Returns
    -------
    data : Bunch
        ``X_train`` (50000, 3, 32, 32), ``y_noisy``, the labels to train on,
        ``y_train``, the true labels, for evaluation, ``noisy_labels``, a dict of all
        five sets of labels, ``X_test``, ``y_test``, and ``classes``, the names of the
        classes.

    References
    ----------
    .. [1] J. Wei, Z. Zhu, H. Cheng, T. Liu, G. Niu, Y. Liu: Learning with Noisy
       Labels Revisited. ICLR 2022.

    Examples
    --------
    >>> from skpresto.datasets import load_cifar10n
    >>> data = load_cifar10n("~/data", noise="aggregate")  # doctest: +SKIP
    >>> round((data.y_noisy != data.y_train).mean(), 2)  # doctest: +SKIP
    0.09
    """
    if noise not in CIFAR10N.keys:
        raise ValueError(
            f"load_cifar10n needs noise to be one of {sorted(CIFAR10N.keys)}, but got "
            f"{noise!r}."
        )
    return _load(CIFAR10N, folder, noise, normalize, check_counts)


def load_cifar100n(
    folder: str | os.PathLike | None = None,
    *,
    normalize: bool = False,
    check_counts: bool = True,
) -> Bunch:
    """Load CIFAR-100 with noisy labels of one human annotator per training image.

    40.2 % of the labels are wrong.

    Parameters
    ----------
    folder : path, default=None
        Folder with CIFAR-100 and ``CIFAR-100_human.pt``, in it or in folders in it. By
        default the folder that the environment variable ``SKPRESTO_DATA`` names.
        ``CIFAR-100_human_ordered.npy`` can be used too, together with
        ``image_order_c100.npy``, because its rows are in another order.
    normalize : bool, default=False
        Return float32 instead of uint8, with mean 0 and standard deviation 1 of each
        colour channel over the training images.
    check_counts : bool, default=True
        Check that the number of images of each class is the published one. The order
        of the labels is always checked.

    Returns
    -------
    data : Bunch
        ``X_train`` (50000, 3, 32, 32), ``y_noisy``, the labels to train on,
        ``y_train``, the true labels, for evaluation, ``noisy_labels``, a dict with the
        one set of labels, ``X_test``, ``y_test``, and ``classes``, the names of the
        classes.

    Examples
    --------
    >>> from skpresto.datasets import load_cifar100n
    >>> data = load_cifar100n("~/data")  # doctest: +SKIP
    """
    return _load(CIFAR100N, folder, "noisy", normalize, check_counts)


def _load(
    labels: CifarN,
    folder: str | os.PathLike | None,
    noise: str,
    normalize: bool,
    check_counts: bool,
) -> Bunch:
    images = read_cifar(labels.cifar, folder, check_counts)
    path = _label_file(labels, folder)
    noisy = _read_labels(labels, path, images["y_train"])
    return as_bunch(normalize, **images, y_noisy=noisy[noise], noisy_labels=noisy)


def _label_file(labels: CifarN, folder: str | os.PathLike | None) -> Path:
    names = (labels.torch_file, *labels.numpy_files)
    place = labels.source.find(folder, *names)
    return next(place / name for name in names if isfile(place / name))


def _read_labels(labels: CifarN, path: Path, y_train: NDArray) -> dict[str, NDArray]:
    """Return all noisy labels, in the order of the images."""
    is_torch = path.name == labels.torch_file
    content = (read_torch if is_torch else read_pickled_npy)(labels.source, path)
    clean = _column(labels, content, path, "clean_label")
    noisy = {
        name: _column(labels, content, path, *keys)
        for name, keys in labels.keys.items()
    }
    if np.array_equal(clean, y_train):
        return noisy
    order = None if is_torch else _read_order(labels, path, len(clean))
    if order is not None and np.array_equal(clean[order], y_train):
        return {name: column[order] for name, column in noisy.items()}
    raise _other_order(labels, path, clean, y_train)


def _column(labels: CifarN, content: Any, path: Path, *keys: str) -> NDArray:
    found = [key for key in keys if isinstance(content, dict) and key in content]
    if not found:
        names = list(content) if isinstance(content, dict) else type(content).__name__
        raise labels.source.damaged(
            path,
            f"expected a dict with key {' or '.join(map(repr, keys))}, got {names}",
        )
    return as_labels(labels.source, content[found[0]], labels.cifar.n_classes, path)


def _read_order(labels: CifarN, path: Path, n_rows: int) -> NDArray | None:
    """Return the row of the numpy file of each image, or None if it is not known."""
    places = [path.parent / labels.order_file, path.parent.parent / labels.order_file]
    for place in places:
        if isfile(place):
            positions = _read_positions(labels.source, place)
            if np.array_equal(np.sort(positions), np.arange(n_rows)):
                return np.argsort(positions)
            raise labels.source.damaged(
                place, f"expected each of the numbers 0 to {n_rows - 1} once"
            )
    return None


def _read_positions(source: Source, path: Path) -> NDArray:
    stream = io.BytesIO(source.read_bytes(path))
    try:
        return np.lib.format.read_array(stream, allow_pickle=False).ravel()
    except (ValueError, MemoryError) as error:
        raise source.damaged(path, f"not an .npy file of numbers ({error})") from None


def _other_order(
    labels: CifarN, path: Path, clean: NDArray, y_train: NDArray
) -> ValueError:
    if len(clean) != len(y_train):
        differ = f"got {len(clean)} labels for {len(y_train)} images"
    else:
        n_wrong = int((clean != y_train).sum())
        differ = f"clean_label differs in {n_wrong} of {len(y_train)} rows"
    numpy_file = labels.numpy_files[0]
    other = (
        f"Use {numpy_file} together with {labels.order_file}"
        if path.name == labels.torch_file
        else f"Use {labels.torch_file}, or put {labels.order_file} beside it"
    )
    return ValueError(
        f"{labels.source.loader} needs the labels of {path.name} in the order of the "
        f"images, but {differ}. {other}; both are at {_HOME}."
    )
