"""Errors for trainings that diverge."""

from typing import Any

import numpy as np

from skpresto._networks.net import NoisyLabelNet
from skpresto._training.tally import EpochSums
from skpresto.exceptions import TrainingDivergedError


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
    unknown = [name for name, error in errors.items() if np.isnan(error or 0)]
    if unknown:
        raise TrainingDivergedError(
            "Training diverged, or the module cannot handle some rows: after epoch "
            f"{epoch} it returns no finite logits for rows of which the {unknown[0]} "
            f"is measured. Lower the learning rate (lr={net.lr}), scale the columns of "
            "X, or check the module for divisions and logarithms."
        )


def check_networks(net: NoisyLabelNet) -> None:
    """Raise if trained networks cannot be used."""
    if not net.is_finite():
        raise TrainingDivergedError(
            "Training diverged in its last steps: the network has parameters or "
            "outputs that are not finite, so it cannot be used. Lower the learning "
            f"rate (lr={net.lr}), scale the columns of X, or check that the module "
            "returns finite logits."
        )
