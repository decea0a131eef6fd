"""Rows to train on or to predict, from arrays, memory maps and datasets."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import Dataset

from skpresto._engine.dataset_rows import DatasetRows


def take_rows(X: Any, index: Tensor) -> Tensor:
    """Return the rows of ``X`` at ``index`` as a tensor.

    Of a memory map or a dataset, only these rows are read.
    """
    if isinstance(X, Tensor):
        return X.index_select(0, index)
    if isinstance(X, DatasetRows):
        return X.take(index)
    return torch.from_numpy(np.asarray(X[index.numpy()], dtype=np.float32))


def _take_item(X: Any, row: int) -> Tensor:
    return take_rows(X, torch.tensor([row]))[0]


def row_size(X: Any) -> int:
    """Return the number of values in a row of ``X``."""
    return max(1, math.prod(X.shape[1:]))


def is_in_memory(X: Any) -> bool:
    """Return whether rows can be read without going through a dataset item by item."""
    return isinstance(X, (Tensor, np.ndarray))


class TrainingRows(Dataset):
    """Some rows of the training set, each with its label and its position.

    Parameters
    ----------
    X : Tensor, ndarray or DatasetRows
        All rows of the training set.
    labels : Tensor of shape (n_samples,)
        Class numbers of all rows.
    rows : Tensor of shape (n_rows,), or None
        Positions of the rows to train on; None means all.
    """

    def __init__(self, X: Any, labels: Tensor, rows: Tensor | None = None) -> None:
        self.X = X
        self.labels = labels
        self.rows = rows

    def __len__(self) -> int:
        return len(self.labels) if self.rows is None else len(self.rows)

    def __getitem__(self, position: int) -> tuple[Any, Tensor, int]:
        row = int(position if self.rows is None else self.rows[position])
        return _take_item(self.X, row), self.labels[row], row


class PredictionRows(Dataset):
    """Rows to predict, in order: all of ``X``, or those at ``rows``.

    Items are pairs, as skorch expects; the second one is the label, or 0 if there are
    no labels.
    """

    def __init__(
        self, X: Any, rows: Tensor | None = None, labels: Tensor | None = None
    ) -> None:
        self.X = X
        self.rows = rows
        self.labels = labels

    def __len__(self) -> int:
        return len(self.X) if self.rows is None else len(self.rows)

    def __getitem__(self, position: int) -> tuple[Any, Any]:
        row = position if self.rows is None else int(self.rows[position])
        label = 0 if self.labels is None else self.labels[position]
        return _take_item(self.X, row), label


@dataclass(frozen=True)
class TrainingData:
    """The validated arguments of ``fit``.

    Parameters
    ----------
    X : Tensor, ndarray or DatasetRows
        Training samples.
    labels : Tensor of shape (n_samples,)
        Given labels, as class numbers.
    n_classes : int
        Number of classes.
    X_valid, valid_labels : like X and labels, or None
        Validation data.
    is_correct : Tensor of shape (n_samples,), dtype=bool, or None
        Which given labels are the true ones, where that is known.
    sample_weight : Tensor of shape (n_samples,), or None
        Weights by which those of the policy are multiplied.
    """

    X: Any
    labels: Tensor
    n_classes: int
    X_valid: Any = None
    valid_labels: Tensor | None = None
    is_correct: Tensor | None = None
    sample_weight: Tensor | None = None

    def training_rows(self, held_out: Tensor | None) -> TrainingRows:
        """Return all rows, or all but those at the positions ``held_out``."""
        rows = None
        if held_out is not None:
            is_kept = torch.ones(len(self.labels), dtype=torch.bool)
            is_kept[held_out] = False
            rows = is_kept.nonzero().squeeze(1)
        return TrainingRows(self.X, self.labels, rows)

    def held_out_rows(self, held_out: Tensor | None) -> PredictionRows | None:
        """Return the rows at the positions ``held_out`` with their given labels."""
        if held_out is None:
            return None
        return PredictionRows(self.X, held_out, self.labels[held_out])

    def validation_rows(self) -> PredictionRows | None:
        """Return the validation data, if there are any."""
        if self.X_valid is None:
            return None
        return PredictionRows(self.X_valid, labels=self.valid_labels)
