"""A torch ``Dataset`` as rows to train on or to predict, read item by item."""

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.utils.data import Dataset, IterableDataset, Subset, TensorDataset


class DatasetRows:
    """The features of a torch ``Dataset``, read when they are needed.

    An item is either the features of a sample or a tuple that begins with them. They
    keep their type, except that float64 is converted to float32.

    Parameters
    ----------
    dataset : Dataset
        With a length, and with items of one shape.

    Attributes
    ----------
    shape : tuple of int
        Number of samples, and shape of the first of them.
    """

    def __init__(self, dataset: Dataset) -> None:
        if isinstance(dataset, IterableDataset) or not hasattr(dataset, "__len__"):
            raise TypeError(
                "A Dataset must have a length and give its items by number, since "
                f"every sample is visited many times; {type(dataset).__name__} can "
                "only be iterated over. Wrap it in a map-style Dataset."
            )
        self.dataset = dataset
        n_samples = len(dataset)
        if n_samples == 0:
            raise ValueError(f"{type(dataset).__name__} has no samples (length 0).")
        self.shape = (n_samples, *self[0].shape)

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, row: int) -> Tensor:
        item = self.dataset[row]
        features = item[0] if isinstance(item, (tuple, list)) else item
        if not isinstance(features, (Tensor, np.ndarray)):
            raise TypeError(
                f"{type(self.dataset).__name__} must give tensors or arrays, but the "
                f"features of item {row} are of type {type(features).__name__}. Add a "
                "transform that makes a tensor of them."
            )
        features = torch.as_tensor(features)
        is_double = features.dtype == torch.float64
        return features.to(torch.float32) if is_double else features

    def take(self, index: Tensor) -> Tensor:
        """Return the features of the samples at ``index``."""
        return torch.stack([self[row] for row in index.tolist()])


def labels_of(dataset: Dataset) -> NDArray:
    """Return the labels that come with the items of a dataset.

    They are the second part of each item. Items are not read where the labels are
    stored separately: in a ``TensorDataset``, and in the ``targets`` of torchvision's
    datasets.
    """
    if isinstance(dataset, Subset):
        return labels_of(dataset.dataset)[np.asarray(dataset.indices)]
    if isinstance(dataset, TensorDataset) and len(dataset.tensors) > 1:
        return dataset.tensors[1].numpy()
    targets = getattr(dataset, "targets", None)
    if targets is not None and getattr(dataset, "target_transform", None) is None:
        return np.asarray(targets)
    first = dataset[0]
    if not isinstance(first, (tuple, list)) or len(first) < 2:
        raise ValueError(
            f"The items of {type(dataset).__name__} have no labels: an item must be a "
            "tuple of features and label. Else pass the labels as y."
        )
    n_samples = len(dataset)  # type: ignore[arg-type]
    return np.array([_as_label(dataset[row][1]) for row in range(n_samples)])


def _as_label(label: Any) -> Any:
    return label.item() if isinstance(label, (Tensor, np.ndarray)) else label
