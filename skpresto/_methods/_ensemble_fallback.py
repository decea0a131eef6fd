"""What CrossPrestopping does if its fold networks are too inaccurate."""

from typing import Any

import numpy as np

from skpresto._classifier.warnings import warn_of_lost_classes
from skpresto._label_quality.findings import LabelFindings
from skpresto._methods._report import early_visits, report_labels
from skpresto._methods._two_phases import run_phase_one, run_phase_two
from skpresto._training.trainer import Trainer
from skpresto._warn import warn_caller
from skpresto.exceptions import FallbackWarning
from skpresto.stopping import AgreementStop, StopRule, ValidationStop

# As accurate as five on the images tried, for two fits less.
_N_NETWORKS = 3


def fall_back_to_ensemble(
    estimator: Any, trainer: Trainer, rng: np.random.RandomState
) -> LabelFindings:
    """Train an ensemble through the two phases of Prestopping.

    Parameters
    ----------
    estimator : CrossPrestoppingClassifier
        Gets the attributes ``stop_rule_`` and ``stop_epoch_``.
    trainer : Trainer
        Its networks are replaced.
    rng : RandomState
        Draws the rows to hold out.
    """
    # Copies of a pretrained instance, trained on the same batches, stay equal.
    n_networks = 1 if trainer.net.blueprint_.is_pretrained else _N_NETWORKS
    warn_caller(
        f"{type(estimator).__name__}: the fold networks accepted fewer than half of "
        "the labels, or nearly none of a class, so an ensemble of "
        f"{n_networks} networks is trained as in PrestoppingClassifier instead, and no "
        "label is corrected. More samples, more max_epochs or a better module may "
        "avoid this.",
        FallbackWarning,
    )
    if estimator.stop_rule_ is None:
        estimator.stop_rule_ = _default_rule(trainer)
    visits = early_visits(trainer, estimator.max_epochs)
    trainer.start(n_networks)
    estimator.stop_epoch_, is_settled = run_phase_one(
        trainer,
        estimator.stop_rule_,
        estimator.max_epochs,
        rng,
        stage="fallback phase 1",
        visits=visits,
    )
    if not is_settled:
        estimator._warn_unsettled()
    run_phase_two(
        trainer, estimator.max_epochs, stage="fallback phase 2", visits=visits
    )
    findings = report_labels(trainer, visits, corrected=trainer.labels)
    warn_of_lost_classes(estimator, trainer.data, findings.is_safe)
    return findings


def _default_rule(trainer: Trainer) -> StopRule:
    if trainer.data.X_valid is not None:
        return ValidationStop()
    # Held-out error is high where fold networks are inaccurate, and phase I would be
    # stopped before most correct labels are learned.
    return AgreementStop(min_memorized_fraction=0.5)
