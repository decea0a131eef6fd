"""Loaders of data sets with clean and noisy labels, from files on disk.

Every loader reads from the folder that is passed, or from the one that the environment
variable ``SKPRESTO_DATA`` names, and validates the files. Nothing is downloaded. Does
not import torch, unless :class:`ParquetDataset` is used, for data larger than memory.
"""

from typing import TYPE_CHECKING, Any

from skpresto.datasets._animal10n import load_animal10n
from skpresto.datasets._cifar import load_cifar10, load_cifar100
from skpresto.datasets._cifar_n import load_cifar10n, load_cifar100n
from skpresto.datasets._fashion_mnist import load_fashion_mnist
from skpresto.datasets._food101n import load_food101n
from skpresto.datasets._image_folder import load_image_folder
from skpresto.datasets._npz import load_npz

if TYPE_CHECKING:
    from skpresto.datasets._parquet_dataset import ParquetDataset

__all__ = [
    "ParquetDataset",
    "load_animal10n",
    "load_cifar10",
    "load_cifar10n",
    "load_cifar100",
    "load_cifar100n",
    "load_fashion_mnist",
    "load_food101n",
    "load_image_folder",
    "load_npz",
]


def __getattr__(name: str) -> Any:
    if name != "ParquetDataset":
        raise AttributeError(f"module 'skpresto.datasets' has no attribute {name!r}")
    from skpresto.datasets._parquet_dataset import ParquetDataset

    return ParquetDataset


def __dir__() -> list[str]:
    return sorted(set(globals()) | set(__all__))
