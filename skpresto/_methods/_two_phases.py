"""Prestopping's two phases: all labels up to the stop point, then the safe set."""

import numpy as np
import torch
from torch import Tensor

from skpresto._data.training_data import TrainingData
from skpresto._label_quality.mean_probabilities import MeanProbabilities
from skpresto._label_quality.trajectories import also_recorded, begin_trajectories
from skpresto._selection.safe_set import LearnFromSafeSet
from skpresto._splits import hold_out
from skpresto._training.policy import LearnFromAll
from skpresto._training.trainer import Trainer
from skpresto.stopping import StopRule


def run_phase_one(
    trainer: Trainer,
    rule: StopRule,
    max_epochs: int,
    rng: np.random.RandomState,
    *,
    stage: str = "phase 1",
    visits: MeanProbabilities | None = None,
) -> tuple[int, bool]:
    """Train on all labels, then go back to the stop point chosen by ``rule``.

    Parameters
    ----------
    trainer : Trainer
        Started.
    rule : StopRule
        Chooses the stop point.
    max_epochs : int
        Largest number of epochs.
    rng : RandomState
        Draws the rows to hold out.
    stage : str, default="phase 1"
        Name of the stage.
    visits : MeanProbabilities, default=None
        Collects the predicted probabilities.

    Returns
    -------
    stop_epoch : int
        Number of epochs that were kept.
    is_settled : bool
        Whether the rule was settled before ``max_epochs`` ended.
    """
    holdout = None
    if rule.holdout_fraction:
        holdout = held_out_rows(trainer.data, rule.holdout_fraction, rng)
        if holdout is None:
            raise ValueError(
                f"{rule} needs rows to hold out, but no class has more than one row. "
                "Use more samples, or a rule that holds none out, such as "
                "LabelWaveStop()."
            )
    first = len(trainer.records)
    begin_trajectories(trainer.labels)
    is_settled = trainer.run(
        LearnFromAll(),
        max_epochs,
        stage=stage,
        holdout=holdout,
        rule=rule,
        observe=also_recorded(None if visits is None else visits.add),
    )
    position = rule.candidate(trainer.records[first:])
    trainer.go_back_to(position)
    return position + 1, is_settled


def held_out_rows(
    data: TrainingData, fraction: float, rng: np.random.RandomState
) -> Tensor | None:
    """Draw rows to hold out, stratified by label, among those with a weight.

    None if there are none to hold out.
    """
    labels, rows = data.labels.numpy(), data.rows_with_weight
    held_out = hold_out(labels if rows is None else labels[rows], fraction, rng)
    if held_out is None:
        return None
    positions = torch.from_numpy(held_out)
    return positions if rows is None else rows[positions]


def run_phase_two(
    trainer: Trainer,
    max_epochs: int,
    *,
    stage: str = "phase 2",
    visits: MeanProbabilities | None = None,
) -> None:
    """Train on the safe set for the rest of ``max_epochs``.

    The visits of phase II replace those of phase I, which include memorized labels. If
    no epoch is left for phase II, those of phase I are kept.
    """
    n_epochs = max_epochs - trainer.n_epochs
    if n_epochs == 0:
        return
    observe = None
    if visits is not None:
        visits.clear()
        observe = visits.add
    policy = LearnFromSafeSet(trainer.history)
    trainer.run(policy, n_epochs, stage=stage, observe=also_recorded(observe))
