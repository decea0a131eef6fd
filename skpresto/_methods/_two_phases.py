"""Prestopping's two phases: all labels up to the stop point, then the safe set."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from skpresto._data.batch import Batch
from skpresto._data.training_data import TrainingData
from skpresto._label_quality.history import PredictionHistory
from skpresto._label_quality.mean_probabilities import MeanProbabilities
from skpresto._methods._loss_mixture import LearnFromAllAndEstimate
from skpresto._splits import hold_out
from skpresto._training.policy import LearnFromAll, Policy, Selection
from skpresto._training.stage import Stage
from skpresto._training.trainer import StopPoint, Trainer
from skpresto.stopping import StopRule


@dataclass
class LearnFromSafeSet(Policy):
    """Learn from samples whose given label is the majority vote of the last q visits.

    The predictions of a batch are recorded before the policy is called, so a sample
    can enter or leave the safe set at any visit.
    """

    history: PredictionHistory

    def select(self, batch: Batch) -> Selection:
        """Return the safe samples of the batch, the same for all networks."""
        is_safe = self.history.vote_of_batch() == batch.labels
        weights = is_safe.to(batch.losses.dtype).expand(batch.losses.shape)
        return Selection(weights=weights)


def run_two_phases(
    trainer: Trainer,
    rule: StopRule,
    max_epochs: int,
    visits: MeanProbabilities | None = None,
    *,
    prefix: str = "",
    is_estimate: bool = False,
    learn_safe: Callable[[StopPoint], Policy] | None = None,
) -> StopPoint:
    """Train on all labels up to the stop point, then on the safe set.

    Parameters
    ----------
    trainer : Trainer
        Started.
    rule : StopRule
        Chooses the stop point.
    max_epochs : int
        Number of epochs of both phases together.
    visits : MeanProbabilities, default=None
        Collects the predicted probabilities. Those of phase II replace those of phase
        I, which include memorized labels, unless no epoch is left for phase II.
    prefix : str, default=""
        Begin of the names of the stages.
    is_estimate : bool, default=False
        Whether the networks are only trained for an estimate; these epochs are not
        marked as phases of the method.
    learn_safe : callable, default=None
        Returns the policy of phase II; None means to learn the safe set alone.
    """
    recorders = [] if visits is None else [visits]
    learn_all = LearnFromAll()
    if rule.reads_noise_rate:
        learn_all = LearnFromAllAndEstimate(trainer.labels)
    stop = trainer.search(
        Stage(
            f"{prefix}phase 1",
            learn_all,
            max_epochs,
            phase=None if is_estimate else 1,
            holdout=held_out_rows(trainer, rule),
            rule=rule,
            recorders=recorders,
        )
    )
    if n_epochs := max_epochs - trainer.n_epochs:
        if visits is not None:
            visits.clear()
        policy: Policy = LearnFromSafeSet(trainer.history)
        if learn_safe is not None:
            policy = learn_safe(stop)
        trainer.run(
            Stage(
                f"{prefix}phase 2",
                policy,
                n_epochs,
                phase=None if is_estimate else 2,
                recorders=recorders,
            )
        )
    return stop


def held_out_rows(trainer: Trainer, rule: StopRule) -> Tensor | None:
    """Draw the rows that a rule holds out, stratified by label; None if it needs none.

    They are among those with a weight. Raises if no class has two of these.
    """
    if not rule.holdout_fraction:
        return None
    labels, rows = trainer.data.labels.numpy(), trainer.data.rows_with_weight
    labels = labels if rows is None else labels[rows]
    held_out = hold_out(labels, rule.holdout_fraction, trainer.rng)
    if held_out is None:
        raise ValueError(
            f"{rule} needs rows to hold out, but no class has more than one row. Use "
            "more samples, or a rule that holds none out, such as LabelWaveStop()."
        )
    positions = torch.from_numpy(held_out)
    return positions if rows is None else rows[positions]


def can_hold_out(data: TrainingData) -> bool:
    """Return whether some class has more than one row with a weight."""
    labels, rows = data.labels, data.rows_with_weight
    labels = labels if rows is None else labels[rows]
    return bool((torch.bincount(labels) > 1).any())
