"""Rows to train on or to predict, with their labels."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from torch import Tensor
from torch.utils.data import Dataset

from skpresto._data.samples import SampleRows


@dataclass(eq=False)
class TrainingRows(Dataset):
    """Some rows of the training set, each with its label and its position.

    Parameters
    ----------
    X : SampleRows
        All rows of the training set.
    labels : Tensor of shape (n_samples,)
        Class numbers of all rows.
    rows : Tensor of shape (n_rows,), or None
        Positions of the rows to train on; None means all.
    """

    X: SampleRows
    labels: Tensor
    rows: Tensor | None = None

    def __len__(self) -> int:
        return len(self.labels) if self.rows is None else len(self.rows)

    def __getitem__(self, position: int) -> tuple[Any, Tensor, int]:
        return self.__getitems__([position])[0]

    def positions(self, index: Tensor) -> Tensor:
        """Return positions in the training set of the rows at ``index``."""
        return index if self.rows is None else self.rows.index_select(0, index)

    def __getitems__(self, positions: Sequence) -> list[tuple[Any, Tensor, int]]:
        rows = _rows_at(positions, self.rows)
        labels = self.labels[torch.tensor(rows)]
        return list(zip(self.X.items(rows), labels, rows, strict=True))


@dataclass(eq=False)
class PredictionRows(Dataset):
    """Rows to predict, in order: all of ``X``, or those at ``rows``.

    Items are pairs, as skorch expects. Without labels, the second one is 0 and 1 in
    turn, so that a ``collate_fn`` that changes the order of samples can be noticed.
    """

    X: SampleRows
    rows: Tensor | None = None
    labels: Tensor | None = None

    def __len__(self) -> int:
        return len(self.X) if self.rows is None else len(self.rows)

    def __getitem__(self, position: int) -> tuple[Any, Tensor]:
        return self.__getitems__([position])[0]

    def __getitems__(self, positions: Sequence) -> list[tuple[Any, Tensor]]:
        at = torch.as_tensor(positions)
        labels = at % 2 if self.labels is None else self.labels[at]
        features = self.X.items(_rows_at(positions, self.rows))
        return list(zip(features, labels, strict=True))


def _rows_at(positions: Sequence, rows: Tensor | None) -> list[int]:
    at = torch.as_tensor(positions)
    return (at if rows is None else rows[at]).tolist()


@dataclass(frozen=True)
class TrainingData:
    """The validated arguments of ``fit``.

    Parameters
    ----------
    X : SampleRows
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
        Weights by which those of the policy are multiplied. Rows of weight 0 are left
        out of training.
    """

    X: SampleRows
    labels: Tensor
    n_classes: int
    X_valid: SampleRows | None = None
    valid_labels: Tensor | None = None
    is_correct: Tensor | None = None
    sample_weight: Tensor | None = None

    def keep_on(self, device: str | torch.device) -> None:
        """Copy all samples that fit to a device, so that batches are taken there."""
        for rows in (self.X, self.X_valid):
            if rows is not None:
                rows.keep_on(torch.device(device))

    @cached_property
    def rows_with_weight(self) -> Tensor | None:
        """Positions of the rows to train on; None means all."""
        if self.sample_weight is None or self.sample_weight.all():
            return None
        return self.sample_weight.nonzero().squeeze(1)

    def training_rows(self, held_out: Tensor | None) -> TrainingRows:
        """Return the rows with a weight, except those at the positions held out."""
        rows = self.rows_with_weight
        if held_out is not None:
            is_kept = torch.zeros(len(self.labels), dtype=torch.bool)
            is_kept[slice(None) if rows is None else rows] = True
            is_kept[held_out] = False
            rows = is_kept.nonzero().squeeze(1)
        return TrainingRows(self.X, self.labels, rows)

    def weights_of(self, rows: Tensor | None) -> Tensor | None:
        """Return the weights of the rows at ``rows``, of all rows if that is None."""
        if self.sample_weight is None or rows is None:
            return self.sample_weight
        return self.sample_weight[rows]

    def validation_rows(self) -> PredictionRows | None:
        """Return the validation data, if there are any."""
        if self.X_valid is None:
            return None
        return PredictionRows(self.X_valid, labels=self.valid_labels)
