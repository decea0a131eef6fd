"""Measure an epoch from the predictions it recorded, and raise if it diverged."""

import time
from typing import Any

import numpy as np
import torch
from torch import Tensor

from skpresto._data.training_data import PredictionRows, TrainingData, TrainingRows
from skpresto._device import fraction_of
from skpresto._label_quality.history import PredictionHistory
from skpresto._networks.net import NoisyLabelNet
from skpresto._training.epoch import EpochSums
from skpresto._training.machinery import Machinery
from skpresto._training.stage import Stage
from skpresto._training.torch_state import pause_for_predictions
from skpresto.exceptions import TrainingDivergedError
from skpresto.stopping import EpochRecord

#: Errors by their name; None where there are no rows to measure them on.
Errors = dict[str, float | None]


class EpochMeasurement:
    """Measure an epoch, and compare its predictions with those before it.

    Parameters
    ----------
    net : NoisyLabelNet
        The net, before the epoch.
    machinery : Machinery
        Predicts rows.
    data : TrainingData
        For held-out and validation rows, and for the true labels if known.
    history : PredictionHistory
        Predictions of all samples. Those before the epoch are copied.
    labels : Tensor of shape (n_samples,)
        Given labels, on the device of the history.
    stage : Stage
        The stage that the epoch is part of.
    """

    def __init__(
        self,
        net: NoisyLabelNet,
        machinery: Machinery,
        data: TrainingData,
        history: PredictionHistory,
        labels: Tensor,
        stage: Stage,
    ) -> None:
        self.net = net
        self.machinery = machinery
        self.data = data
        self.history = history
        self.labels = labels
        self.stage = stage
        self._started = time.perf_counter()
        self._learning_rate = float(net.optimizer_.param_groups[0]["lr"])
        self._before = history.newest().clone()
        self._was_visited = history.is_visited()

    def errors(self, valid_rows: PredictionRows | None) -> Errors:
        """Return the errors on validation and held-out rows."""
        rows, data = self.stage.holdout, self.data
        held_out = None
        if rows is not None:
            held_out = PredictionRows(data.X, rows, data.labels[rows])
        return {
            "valid_error": self._error_on(valid_rows, notify=True),
            "holdout_error": self._error_on(held_out, data.weights_of(rows)),
        }

    def _error_on(
        self,
        rows: PredictionRows | None,
        weights: Tensor | None = None,
        notify: bool = False,
    ) -> float | None:
        """Return the fraction of rows, by weight, predicted otherwise than labeled.

        It is nan if a row has no prediction.
        """
        if rows is None:
            return None
        pause_for_predictions()
        differs = self.net.disagrees(rows, self.machinery.predict, notify=notify)
        return np.nan if differs is None else weighted_fraction(differs.cpu(), weights)

    def record(
        self,
        epoch: int,
        rows: TrainingRows,
        sums: EpochSums,
        errors: Errors,
        train_loss: float,
    ) -> EpochRecord:
        """Return the record of the epoch, which ends for the policy, too."""
        stage, data, n_networks = self.stage, self.data, len(self.net.networks)
        of_policy = stage.policy.end_epoch()
        return EpochRecord(
            epoch=epoch,
            stage=stage.name,
            train_loss=train_loss / n_networks,
            learning_rate=self._learning_rate,
            selected_fraction=sums.n_selected / (n_networks * len(rows)),
            n_skipped_batches=sums.n_skipped,
            n_valid=None if data.valid_labels is None else len(data.valid_labels),
            n_holdout=None if stage.holdout is None else len(stage.holdout),
            valid_error=errors["valid_error"],
            holdout_error=errors["holdout_error"],
            **self._of_predictions(rows.rows),
            **of_policy,
            seconds=time.perf_counter() - self._started,
            phase=stage.phase,
            n_networks=n_networks,
        )

    def _of_predictions(self, rows: Tensor | None) -> dict[str, Any]:
        """Return what is measured of the rows trained on; None means all."""
        now = self.history.newest()
        is_safe = self.stage.policy.is_safe()
        if is_safe is None:
            is_safe = self.history.is_safe(self.labels)
        is_changed = (now != self._before) | ~self._was_visited
        # Fractions are computed on the host: it has float64, and this is one transfer.
        measured = torch.stack((now != self.labels, is_safe, is_changed)).cpu()
        if rows is not None:
            measured = measured.index_select(1, rows)
        is_wrong, is_memorized, is_changed = measured
        weights = self.data.weights_of(rows)
        found = {
            "train_error": weighted_fraction(is_wrong, weights),
            "memorized_fraction": weighted_fraction(is_memorized, weights),
            "changed_fraction": weighted_fraction(is_changed, weights),
        }
        is_correct = self.data.is_correct
        if is_correct is not None:
            known = is_correct if rows is None else is_correct[rows]
            found |= _memorization(is_memorized, known, weights)
        return found


def _memorization(
    is_memorized: Tensor, is_correct: Tensor, weights: Tensor | None
) -> dict[str, float]:
    """Return memorization precision and recall."""
    both = _total(is_memorized & is_correct, weights)
    n_memorized = _total(is_memorized, weights)
    n_correct = _total(is_correct, weights)
    return {
        "memorization_precision": both / n_memorized if n_memorized else np.nan,
        "memorization_recall": both / n_correct if n_correct else np.nan,
    }


def _total(mask: Tensor, weights: Tensor | None) -> float:
    """Return the number of samples for which ``mask`` is True, or their weight.

    Both are on the host.
    """
    if weights is None:
        return mask.sum().item()
    return (mask * weights.double()).sum().item()


def weighted_fraction(mask: Tensor, weights: Tensor | None) -> float:
    """Return the fraction of the samples, by weight, for which ``mask`` is True."""
    if weights is None:
        return fraction_of(mask)
    return _total(mask, weights) / weights.double().sum().item()


def check_epoch(
    net: NoisyLabelNet,
    epoch: int,
    train_loss: float,
    sums: EpochSums,
    errors: dict[str, Any],
) -> None:
    """Raise if the loss of an epoch, or an error measured after it, is not a number."""
    skipped_all = sums.n_skipped == len(sums.losses)
    if not (np.isfinite(train_loss) or skipped_all):
        raise TrainingDivergedError(
            f"Training diverged: the mean loss of epoch {epoch} is {train_loss}, so "
            "the network cannot be used. Lower the learning rate "
            f"(lr={net.lr}), scale the columns of X, or check that the module returns "
            "finite logits."
        )
    for name, error in errors.items():
        if not np.isnan(error or 0):
            continue
        raise TrainingDivergedError(
            "Training diverged, or the module cannot handle some rows: after epoch "
            f"{epoch} it returns no finite logits for rows of which the {name} "
            f"is measured. Lower the learning rate (lr={net.lr}), scale the columns of "
            "X, or check the module for divisions and logarithms."
        )


def check_networks(net: NoisyLabelNet, batch: Any) -> None:
    """Raise if trained networks cannot be used, tried on a few samples."""
    net._set_training(False)
    with torch.no_grad():
        parts = [net.infer(batch), *net.module_.parameters()]
    for part in parts:
        if torch.isfinite(part).all():
            continue
        raise TrainingDivergedError(
            "Training diverged in its last steps: the network has parameters or "
            "outputs that are not finite, so it cannot be used. Lower the learning "
            f"rate (lr={net.lr}), scale the columns of X, or check that the module "
            "returns finite logits."
        )
