"""Before fold networks are trained: which rows each leaves out, and from when on."""

from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skpresto._classifier.warnings import warn_unless_settled
from skpresto._methods._fold_networks import last_start
from skpresto._methods._loss_mixture import LearnFromAllAndEstimate
from skpresto._methods._two_phases import held_out_rows
from skpresto._splits import assign_folds
from skpresto._training.policy import LearnFromAll
from skpresto._training.stage import Stage
from skpresto._training.trainer import Trainer
from skpresto.stopping import StopRule

#: Epochs on all labels before labels are weighted, unless a stop rule is given. Later
#: starts lose on pair noise, earlier ones on symmetric noise (benchmarks/NOTES.md).
PHASE_ONE_EPOCHS = 3


def search_stop_epoch(
    estimator: Any, trainer: Trainer, rule: StopRule | None, n_epochs: int
) -> int:
    """Return the length of phase I, from a training of its own if a rule is given.

    It is at most half of ``n_epochs``, the epochs of the fold networks.
    """
    latest = last_start(n_epochs)
    if rule is None:
        return min(PHASE_ONE_EPOCHS, latest)
    learn_all = LearnFromAll()
    if rule.reads_noise_rate:
        learn_all = LearnFromAllAndEstimate(trainer.labels)
    trainer.start()
    stop = trainer.search(
        Stage(
            "search",
            learn_all,
            estimator.max_epochs,
            phase=1,
            holdout=held_out_rows(trainer, rule),
            rule=rule,
        )
    )
    warn_unless_settled(
        estimator,
        rule,
        stop,
        f"labels are weighted from epoch {latest} on, half of the epochs of the "
        "fold networks",
    )
    return min(stop.epoch, latest)


def folds_of_samples(estimator: Any, trainer: Trainer) -> NDArray[np.intp]:
    """Return the fold of each sample; those of weight 0 are in none by default."""
    labels, rows = trainer.data.labels.numpy(), trainer.data.rows_with_weight
    name, cv = type(estimator).__name__, estimator.cv
    if rows is None or not isinstance(cv, Integral):
        folds = assign_folds(labels, cv, trainer.rng, name)
    else:
        folds = np.full(len(labels), -1)
        folds[rows] = assign_folds(labels[rows], cv, trainer.rng, name)
    if (folds < 0).all():
        raise ValueError(
            f"{name} needs rows to hold out, but no class has more than one row. Use "
            "more samples, or a method that holds none out, such as DefaultClassifier."
        )
    return folds
