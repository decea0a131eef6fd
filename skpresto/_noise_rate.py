"""The noise rate that a method needs: as given, or estimated from the data."""

from numbers import Real
from typing import Any

import numpy as np
import torch

from skpresto._build_net import build_net
from skpresto._sklearn import Interval
from skpresto._training.progress import Progress
from skpresto._training.trainer import Trainer, TrainingData
from skpresto._training.two_phases import hold_out, run_phase_one, run_phase_two
from skpresto.stopping import AgreementStop

NOISE_RATE_CONSTRAINT = [Interval(Real, 0, 1, closed="left"), None]


def noise_rate_of(
    estimator: Any, data: TrainingData, rng: np.random.RandomState
) -> float:
    """Return the noise rate given to ``estimator``, or an estimate.

    The estimate is the share of samples outside the safe set after Prestopping with
    :class:`~skpresto.stopping.AgreementStop`, for which one network is trained with
    the estimator's own recipe. It counts samples that are too hard to be learnt as
    wrong, so it tends to be high on hard data.
    """
    if estimator.noise_rate is not None:
        return float(estimator.noise_rate)
    rule = AgreementStop()
    name = type(estimator).__name__
    labels = data.labels.numpy()
    # The same draw that phase I will make; it does not move the generator.
    trial = np.random.RandomState(0)
    if hold_out(labels, rule.holdout_fraction, trial) is None:
        raise ValueError(
            f"{name} cannot estimate the noise rate from {len(labels)} samples of "
            f"{data.n_classes} classes: none can be held out. Pass noise_rate=..., the "
            "share of wrong labels."
        )
    progress = Progress(0, estimator.max_epochs)
    net = build_net(estimator, data, n_networks=1)
    trainer = Trainer(net, data, estimator.q, progress)
    run_phase_one(trainer, rule, estimator.max_epochs, rng)
    run_phase_two(trainer, estimator.max_epochs)
    trainer.visit_the_unvisited()
    is_safe = trainer.label_history.agrees(trainer.labels)
    trainer.finish()
    n_safe = int(torch.count_nonzero(is_safe))
    if n_safe == 0:
        raise ValueError(
            f"{name} cannot estimate the noise rate: no label agrees with what a "
            "network learns from the others. Pass noise_rate=..., the share of wrong "
            "labels."
        )
    return 1 - n_safe / len(labels)
