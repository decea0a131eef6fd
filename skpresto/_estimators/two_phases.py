"""Prestopping's two phases: all labels up to the stop point, then the safe set."""

import numpy as np
import torch

from skpresto._engine.trainer import Trainer
from skpresto._label_quality.mean_probabilities import MeanProbabilities
from skpresto._selection.base import LearnFromAll
from skpresto._selection.safe_set import LearnFromSafeSet
from skpresto._splits import hold_out
from skpresto.stopping import StopRule


def run_phase_one(
    trainer: Trainer,
    rule: StopRule,
    max_epochs: int,
    rng: np.random.RandomState,
    stage: str = "phase 1",
) -> tuple[int, bool]:
    """Train on all labels, then go back to the stop point chosen by ``rule``.

    Returns
    -------
    stop_epoch : int
        Number of epochs that were kept.
    is_settled : bool
        Whether the rule was settled before ``max_epochs`` ended.
    """
    holdout = None
    if rule.holdout_fraction:
        held_out = hold_out(trainer.data.labels.numpy(), rule.holdout_fraction, rng)
        if held_out is None:
            raise ValueError(
                f"{rule} needs rows to hold out, but no class has more than one row. "
                "Use more samples, or a rule that holds none out, such as "
                "LabelWaveStop()."
            )
        holdout = torch.from_numpy(held_out)
    first = len(trainer.records)
    is_settled = trainer.run(
        LearnFromAll(), max_epochs, stage=stage, holdout=holdout, rule=rule
    )
    position = rule.candidate(trainer.records[first:])
    trainer.go_back_to(position)
    return position + 1, is_settled


def run_phase_two(
    trainer: Trainer, max_epochs: int, stage: str = "phase 2"
) -> MeanProbabilities:
    """Train on the safe set up to ``max_epochs``; return mean probabilities."""
    policy = LearnFromSafeSet(trainer.history)
    visits = MeanProbabilities(trainer.labels, trainer.data.n_classes)
    n_epochs = max_epochs - trainer.n_epochs
    trainer.run(policy, n_epochs, stage=stage, observe=visits.add)
    return visits
