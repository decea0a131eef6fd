"""The noise rate that a method needs: as given, or estimated from the data."""

from numbers import Real
from typing import Any

import torch

from skpresto._methods._two_phases import can_hold_out, run_two_phases
from skpresto._sklearn import Interval
from skpresto._training.trainer import Trainer
from skpresto.stopping import AgreementStop

NOISE_RATE_CONSTRAINT = [Interval(Real, 0, 1, closed="left"), None]


def given_or_estimated_noise_rate(estimator: Any, trainer: Trainer) -> float:
    """Return the noise rate given to ``estimator``, or an estimate.

    The estimate is the fraction of samples outside the safe set after Prestopping with
    :class:`~skpresto.stopping.AgreementStop`, for which one network is trained with
    the parameters of the estimator. Samples that are too hard to learn count as wrong,
    so it tends to be too high on hard data.
    """
    if estimator.noise_rate is not None:
        return float(estimator.noise_rate)
    name, data = type(estimator).__name__, trainer.data
    if not can_hold_out(data):
        raise ValueError(
            f"{name} cannot estimate the noise rate from {len(data.labels)} samples of "
            f"{data.n_classes} classes: none can be held out. Pass "
            "noise_rate=..., the fraction of wrong labels."
        )
    trainer.start()
    run_two_phases(
        trainer,
        AgreementStop(),
        estimator.max_epochs,
        prefix="noise rate ",
        is_estimate=True,
    )
    trainer.predict_unseen_samples()
    rows = data.training_rows(None).rows
    is_safe = trainer.history.is_safe(trainer.labels)
    is_safe = is_safe if rows is None else is_safe[rows.to(is_safe.device)]
    n_safe = int(torch.count_nonzero(is_safe))
    if n_safe == 0:
        raise ValueError(
            f"{name} cannot estimate the noise rate: no given label equals the "
            "majority prediction of a network trained on the labels. Pass "
            "noise_rate=..., the fraction of wrong labels."
        )
    return 1 - n_safe / len(is_safe)
