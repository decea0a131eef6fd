"""Measure an epoch from the predictions it recorded."""

from typing import Any

import numpy as np
from torch import Tensor

from skpresto._engine.rows import TrainingData
from skpresto._label_quality.prediction_history import PredictionHistory
from skpresto._selection.base import AcceptsLabels


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
        n_holdout = len(self.labels) - len(is_memorized)
        return {
            "train_error": _fraction((now != self.labels)[visited]),
            "memorized_fraction": _fraction(is_memorized),
            "changed_fraction": _fraction(is_changed),
            "n_holdout": n_holdout or None,
            **self._memorization(visited, is_memorized),
        }

    def _memorization(
        self, visited: Tensor | slice, is_memorized: Tensor
    ) -> dict[str, float]:
        """Return memorization precision and recall, where true labels are known."""
        if self.data.is_correct is None:
            return {}
        is_correct = self.data.is_correct.to(self.labels.device)[visited]
        both = (is_memorized & is_correct).sum().item()
        n_memorized = is_memorized.sum().item()
        n_correct = is_correct.sum().item()
        return {
            "memorization_precision": both / n_memorized if n_memorized else np.nan,
            "memorization_recall": both / n_correct if n_correct else np.nan,
        }


def _fraction(mask: Tensor) -> float:
    return mask.double().mean().item()
