"""Prestopping's two phases: everything until the stop point, then the safe set."""

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from skpresto._training.batch import Batch, Selection
from skpresto._training.label_history import LabelHistory
from skpresto._training.policy import LearnFromAll, SelectionPolicy
from skpresto._training.trainer import Trainer
from skpresto.stopping import StopRule


class LearnFromSafeSet(SelectionPolicy):
    """Learn from the samples whose label is what was predicted most often for them.

    The predictions of the whole batch are in the history before the policy is asked,
    so samples can enter the safe set and leave it.
    """

    def __init__(self, history: LabelHistory) -> None:
        self.history = history

    def select(self, batch: Batch) -> Selection:
        """Return the safe part of the batch, the same for all networks."""
        weights = self.history.agrees_of_batch(batch.labels)
        return Selection(weights=weights.expand(len(batch.logits), -1))


def run_phase_one(
    trainer: Trainer, rule: StopRule, max_epochs: int, rng: np.random.RandomState
) -> tuple[int, bool]:
    """Learn from everything, then go back to the stop point.

    Returns
    -------
    stop_epoch : int
        Number of epochs that were kept.
    is_settled : bool
        Whether the rule was settled before ``max_epochs`` ended.
    """
    holdout = None
    if rule.holdout_fraction:
        holdout = hold_out(trainer.data.labels.numpy(), rule.holdout_fraction, rng)
        if holdout is None:
            raise ValueError(
                f"{rule} needs rows to hold out, but no class has a row to spare. Use "
                "more samples, or a rule that holds none out, such as LabelWaveStop()."
            )
    first = len(trainer.records)
    is_settled = trainer.run(LearnFromAll(), max_epochs, holdout=holdout, rule=rule)
    position = rule.candidate(trainer.records[first:])
    trainer.go_back_to(position)
    return position + 1, is_settled


def run_phase_two(trainer: Trainer, max_epochs: int) -> None:
    """Go on to ``max_epochs``, learning from the safe set only."""
    policy = LearnFromSafeSet(trainer.label_history)
    trainer.run(policy, max_epochs - trainer.n_epochs, phase=2)


def hold_out(
    labels: NDArray, fraction: float, rng: np.random.RandomState
) -> Tensor | None:
    """Draw rows to hold out, the same share of each class.

    A class never loses its last row, so classes too rare to be split stay in
    training whole. Returns None if no class can spare a row.
    """
    counts = np.bincount(labels)
    shares = np.minimum(fraction * counts, np.maximum(counts - 1, 0))
    # Rounding down loses up to a row a class; the classes cut most get one back.
    n_held = np.floor(shares).astype(int)
    n_more = min(round(fraction * len(labels)), len(labels) - 1) - n_held.sum()
    spare = np.flatnonzero(n_held < counts - 1)
    by_loss = spare[np.argsort((n_held - shares)[spare], kind="stable")]
    n_held[by_loss[: max(n_more, int(n_held.sum() == 0))]] += 1
    order = rng.permutation(len(labels))
    by_class = np.argsort(labels[order], kind="stable")
    first_of_class = np.repeat(np.cumsum(counts) - counts, counts)
    rank = np.arange(len(labels)) - first_of_class  # position of a row in its class
    held = order[by_class][rank < np.repeat(n_held, counts)]
    return torch.from_numpy(np.sort(held)) if len(held) else None
