"""Measure an epoch from the predictions it recorded."""

from typing import Any

import numpy as np
import torch
from torch import Tensor

from skpresto._data.training_data import TrainingData
from skpresto._label_quality.history import PredictionHistory
from skpresto._training.policy import AcceptsLabels


class EpochMeasurement:
    """Compare the predictions after an epoch with those before it.

    Parameters
    ----------
    history : PredictionHistory
        Predictions of all samples. Those before the epoch are copied.
    labels : Tensor of shape (n_samples,)
        Given labels, on the device of the history.
    data : TrainingData
        For the true labels, where they are known.
    """

    def __init__(
        self, history: PredictionHistory, labels: Tensor, data: TrainingData
    ) -> None:
        self.history = history
        self.labels = labels
        self.data = data
        self._before = history.newest().clone()
        self._was_visited = history.is_visited()

    def fields(
        self, rows: Tensor | None, acceptance: AcceptsLabels | None
    ) -> dict[str, Any]:
        """Return fields of the epoch's record.

        Parameters
        ----------
        rows : Tensor of positions, or None
            The rows trained on; None means all.
        acceptance : object with a method ``agrees``, or None
            Which labels the method accepts; None means the majority vote.
        """
        visited = slice(None) if rows is None else rows.to(self.labels.device)
        now = self.history.newest()
        is_changed = ((now != self._before) | ~self._was_visited)[visited]
        votes = self.history if acceptance is None else acceptance
        is_memorized = votes.agrees(self.labels)[visited]
        weights = self.data.weights_of(rows)
        return {
            "train_error": weighted_fraction((now != self.labels)[visited], weights),
            "memorized_fraction": weighted_fraction(is_memorized, weights),
            "changed_fraction": weighted_fraction(is_changed, weights),
            **self._memorization(visited, is_memorized, weights),
        }

    def _memorization(
        self, visited: Tensor | slice, is_memorized: Tensor, weights: Tensor | None
    ) -> dict[str, float]:
        """Return memorization precision and recall, where true labels are known."""
        if self.data.is_correct is None:
            return {}
        is_correct = self.data.is_correct.to(self.labels.device)[visited]
        both = _total(is_memorized & is_correct, weights)
        n_memorized = _total(is_memorized, weights)
        n_correct = _total(is_correct, weights)
        return {
            "memorization_precision": both / n_memorized if n_memorized else np.nan,
            "memorization_recall": both / n_correct if n_correct else np.nan,
        }


def _total(mask: Tensor, weights: Tensor | None) -> float:
    """Return the number of samples for which ``mask`` is True, or their weight."""
    if weights is None:
        return mask.sum().item()
    return (mask * weights.to(mask.device, torch.float64)).sum().item()


def weighted_fraction(mask: Tensor, weights: Tensor | None) -> float:
    """Return the fraction of the samples, by weight, for which ``mask`` is True."""
    if weights is None:
        return mask.double().mean().item()
    return _total(mask, weights) / weights.double().sum().item()
