"""What CrossPrestopping does if its fold networks are too inaccurate."""

from dataclasses import replace
from typing import Any

import numpy as np

from skpresto._classifier.outcome import Outcome
from skpresto._classifier.warnings import warn_of_lost_classes, warn_unless_settled
from skpresto._label_quality.blocks import row_sums
from skpresto._label_quality.findings import LabelFindings
from skpresto._label_quality.posterior import LabelPosterior
from skpresto._methods._report import early_visits, report_labels
from skpresto._methods._two_phases import run_two_phases
from skpresto._training.request import FitRequest
from skpresto._training.trainer import Trainer
from skpresto._warn import warn_caller
from skpresto.exceptions import FallbackWarning
from skpresto.stopping import AgreementStop, StopRule, ValidationStop


def fall_back_to_ensemble(
    estimator: Any, trainer: Trainer, request: FitRequest, posterior: LabelPosterior
) -> Outcome:
    """Train an ensemble through the two phases of Prestopping.

    Parameters
    ----------
    estimator : CrossPrestoppingClassifier
        Its parameters are used.
    trainer : Trainer
        Its networks are replaced.
    request : FitRequest
        The fit.
    posterior : LabelPosterior
        What the fold networks say about the labels.
    """
    # As many as the rest of the cost pays for. Of two final networks: three are as
    # accurate as five on the images tried, for two fits less.
    n_networks = 2 * estimator.n_final_networks - 1
    if trainer.blueprint.is_pretrained:
        n_networks = 1  # copies, trained on the same batches, stay equal
    trained = f"an ensemble of {n_networks} networks" if n_networks > 1 else "a network"
    warn_caller(
        f"{type(estimator).__name__}: the fold networks accepted fewer than half of "
        f"the labels, or nearly none of a class, so {trained} is trained as in "
        "PrestoppingClassifier instead, and no label is corrected.",
        FallbackWarning,
        "More samples, more max_epochs or a better module may avoid this.",
    )
    rule = request.rule or _default_rule(trainer)
    visits = early_visits(trainer, estimator.max_epochs)
    trainer.start(n_networks)
    stop = run_two_phases(
        trainer, rule, estimator.max_epochs, visits, prefix="fallback "
    )
    warn_unless_settled(estimator, rule, stop)
    findings = report_labels(trainer, visits, corrected=trainer.labels)
    findings = _ranked_by_both(findings, posterior)
    warn_of_lost_classes(estimator, request, findings.is_safe)
    further = {
        "stop_epoch_": stop.epoch,
        "stop_rule_": rule,
        "used_fallback_": True,
    }
    return Outcome(findings, further)


def _ranked_by_both(
    findings: LabelFindings, posterior: LabelPosterior
) -> LabelFindings:
    """Return findings with the mean quality of the ensemble and the fold networks.

    The fold networks are inaccurate, the ensemble was trained on all labels; both
    together rank labels better than either (benchmarks/NOTES.md).
    """
    is_known = (row_sums(posterior.probability) > 0).cpu().numpy()
    both = (findings.quality + posterior.label_quality().cpu().numpy()) / 2
    return replace(
        findings,
        quality=np.where(is_known, both, findings.quality),
        basis="out of fold",
        disagreement=posterior.disagreement(),
        likeliest=posterior.likeliest(),
        planted=posterior.planted_errors(),
    )


def _default_rule(trainer: Trainer) -> StopRule:
    if trainer.data.X_valid is not None:
        return ValidationStop()
    # Held-out error is high where fold networks are inaccurate, and phase I would be
    # stopped before most correct labels are learned.
    return AgreementStop(min_memorized_fraction=0.5)
