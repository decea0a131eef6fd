"""A torch ``Dataset`` as rows to train on or to predict, read item by item."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.utils.data import Dataset, IterableDataset, Subset, TensorDataset

from skpresto._data.features import as_features, join_parts, parts_of, shapes_of
from skpresto._data.order import ReadingOrder
from skpresto._data.samples import SampleRows


class DatasetRows(SampleRows):
    """The features of a torch ``Dataset``, read when they are needed.

    An item is either the features of a sample or a tuple that begins with them, and
    features are a tensor, or a dict or tuple of tensors. All tensors of a
    ``TensorDataset`` but the last, the label, are features. They keep their type,
    except that float64 is converted to float32.

    Parameters
    ----------
    dataset : Dataset
        With a length, and with items of one shape.
    n_inputs : int, default=None
        Number of tensors of a ``TensorDataset`` that are features, if known.
    is_collated : bool, default=False
        Whether ``collate_fn`` of the user makes batches of the items. Items are then
        left as they are, and may differ in shape.
    """

    is_in_memory = False
    is_table = False

    def __init__(
        self, dataset: Dataset, n_inputs: int | None = None, is_collated: bool = False
    ) -> None:
        if isinstance(dataset, IterableDataset) or not hasattr(dataset, "__len__"):
            raise TypeError(
                "A Dataset must have a length and give its items by number, since "
                f"every sample is visited many times; {type(dataset).__name__} can "
                "only be iterated over. Wrap it in a map-style Dataset."
            )
        self.source = dataset
        self._n_samples = len(dataset)
        if self._n_samples == 0:
            raise ValueError(f"{type(dataset).__name__} has no samples (length 0).")
        self._n_inputs = _n_inputs(dataset, n_inputs)
        self._is_collated = is_collated
        self.sample_shape = None
        if not is_collated:
            self.sample_shape = shapes_of(self._features(0, dataset[0]))

    def __len__(self) -> int:
        return self._n_samples

    def item(self, row: int) -> Any:
        """Return the features of one sample."""
        return self._checked(row, self.source[row])

    def _checked(self, row: int, item: Any) -> Any:
        """Return the features of an item, which must be like those of the first."""
        if self._is_collated:
            return self._given(item)
        features = self._features(row, item)
        shape = shapes_of(features)
        if shape != self.sample_shape:
            raise ValueError(
                f"The samples of {type(self.source).__name__} differ in shape: the "
                f"first has {self.sample_shape}, item {row} has {shape}. Pass "
                "iterator_train__collate_fn and iterator_valid__collate_fn, functions "
                "that make a batch of a list of such samples."
            )
        return features

    def items(self, rows: list[int]) -> list[Any]:
        """Return the features of several samples, read together if possible."""
        read = getattr(self.source, "__getitems__", None)
        if not callable(read):
            return [self.item(row) for row in rows]
        items = read(rows)
        if len(items) != len(rows):
            raise ValueError(
                f"__getitems__ of {type(self.source).__name__} must return one item "
                f"for each of {len(rows)} rows, but returned {len(items)}."
            )
        return [self._checked(*pair) for pair in zip(rows, items, strict=True)]

    def reading_order(self, rows: Tensor | None) -> ReadingOrder | None:
        """Return the order for a dataset that is stored in blocks."""
        found = blocks_of(self.source)
        if found is None:
            return None
        blocks, n_kept = found
        chosen = torch.from_numpy(blocks)
        return ReadingOrder(chosen if rows is None else chosen[rows], n_kept)

    def take(self, index: Tensor) -> Any:
        """Return the features of the samples at ``index``."""
        return join_parts(torch.stack, self.items(index.tolist()))

    def _given(self, item: Any) -> Any:
        """Return features as they are in the dataset."""
        if not isinstance(item, (tuple, list)):
            return item
        return item[0] if self._n_inputs == 1 else tuple(item[: self._n_inputs])

    def _features(self, row: int, item: Any) -> Any:
        """Return the features of an item as tensors."""
        given = self._given(item)
        # Numbers are refused as features, but may be one part of several.
        known = (Tensor, np.ndarray, Mapping, tuple)
        if isinstance(given, known):
            features = as_features(given)
            unknown = [x for x in parts_of(features) if not isinstance(x, Tensor)]
        else:
            unknown = [given]
        if unknown:
            raise TypeError(
                f"{type(self.source).__name__} must give tensors or arrays, but the "
                f"features of item {row} are of type {type(unknown[0]).__name__}. Add "
                "a transform that makes a tensor of them."
            )
        return features


def labels_of(dataset: Dataset) -> NDArray:
    """Return the labels that come with the items of a dataset.

    They are the second part of each item, and the last tensor of a ``TensorDataset``.
    Items are not read where the labels are stored separately: in a ``TensorDataset``,
    and in the ``targets`` of torchvision's datasets.
    """
    if isinstance(dataset, Subset):
        return labels_of(dataset.dataset)[np.asarray(dataset.indices)]
    if isinstance(dataset, TensorDataset) and len(dataset.tensors) > 1:
        return dataset.tensors[-1].cpu().numpy()
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


def blocks_of(dataset: Dataset) -> tuple[NDArray, int] | None:
    """Return how a dataset is stored: the block of each item, and how many are kept.

    A dataset that reads many items at once tells by a method ``storage_blocks()``. None
    means that any item can be read by itself.
    """
    if isinstance(dataset, Subset):
        found = blocks_of(dataset.dataset)
        return found and (found[0][np.asarray(dataset.indices)], found[1])
    blocks = getattr(dataset, "storage_blocks", None)
    return blocks() if callable(blocks) else None


def _n_inputs(dataset: Dataset, known: int | None) -> int:
    """Return how many parts at the begin of an item are features."""
    while isinstance(dataset, Subset):
        dataset = dataset.dataset
    if not isinstance(dataset, TensorDataset):
        return 1
    return max(1, len(dataset.tensors) - 1) if known is None else known


def _as_label(label: Any) -> Any:
    return label.item() if isinstance(label, (Tensor, np.ndarray)) else label
