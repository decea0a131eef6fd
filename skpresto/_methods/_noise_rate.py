"""The noise rate that a method needs: as given, or estimated from the data."""

from numbers import Real
from typing import Any

import numpy as np
import torch

from skpresto._methods._two_phases import (
    held_out_rows,
    run_phase_one,
    run_phase_two,
)
from skpresto._sklearn import Interval
from skpresto._training.trainer import Trainer
from skpresto.stopping import AgreementStop

NOISE_RATE_CONSTRAINT = [Interval(Real, 0, 1, closed="left"), None]


def given_or_estimated_noise_rate(
    estimator: Any, trainer: Trainer, rng: np.random.RandomState
) -> float:
    """Return the noise rate given to ``estimator``, or an estimate.

    The estimate is the fraction of samples outside the safe set after Prestopping with
    :class:`~skpresto.stopping.AgreementStop`, for which one network is trained with
    the parameters of the estimator. Samples that are too hard to learn count as wrong,
    so it tends to be too high on hard data.
    """
    if estimator.noise_rate is not None:
        return float(estimator.noise_rate)
    rule = AgreementStop()
    name = type(estimator).__name__
    data = trainer.data
    # A trial with a generator of its own, so that ``rng`` is not advanced.
    trial = np.random.RandomState(0)
    if held_out_rows(data, rule.holdout_fraction, trial) is None:
        raise ValueError(
            f"{name} cannot estimate the noise rate from {len(data.labels)} samples of "
            f"{data.n_classes} classes: none can be held out. Pass "
            "noise_rate=..., the fraction of wrong labels."
        )
    trainer.start()
    stages = "noise rate phase 1", "noise rate phase 2"
    run_phase_one(trainer, rule, estimator.max_epochs, rng, stage=stages[0])
    run_phase_two(trainer, estimator.max_epochs, stage=stages[1])
    trainer.predict_unseen_samples()
    rows = data.training_rows(None).rows
    is_safe = trainer.history.agrees(trainer.labels)
    is_safe = is_safe if rows is None else is_safe[rows.to(is_safe.device)]
    n_safe = int(torch.count_nonzero(is_safe))
    if n_safe == 0:
        raise ValueError(
            f"{name} cannot estimate the noise rate: no given label equals the "
            "majority prediction of a network trained on the labels. Pass "
            "noise_rate=..., the fraction of wrong labels."
        )
    return 1 - n_safe / len(is_safe)
