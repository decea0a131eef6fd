"""What CrossPrestopping reports about the labels."""

from dataclasses import replace
from typing import Any

from torch import Tensor

from skpresto._label_quality.findings import LabelFindings
from skpresto._label_quality.posterior import LabelPosterior, count_transitions
from skpresto._methods._final_networks import (
    POWER_OF_PRODUCT,
    with_rows_of_weight_zero,
)
from skpresto._training.trainer import Trainer
from skpresto._warn import warn_caller
from skpresto.exceptions import SafeSetWarning

# Of two classes, networks alone were worse than plain training on data where they did
# not predict a quarter of the labels and more (benchmarks/NOTES.md).
_MANY_UNPREDICTED = 0.2


def cross_fit_findings(
    trainer: Trainer, posterior: LabelPosterior, product: Tensor
) -> LabelFindings:
    """Return what is known of the labels after the final networks were trained.

    Wrong labels at the boundary of two classes are given to samples of which no network
    is sure, so label noise is counted among all samples here. Wrong labels are planted
    without the ensemble, which was trained on the given labels and not on planted ones.

    Parameters
    ----------
    trainer : Trainer
        After training.
    posterior : LabelPosterior
        What the final networks have learned.
    product : Tensor of shape (n_samples, n_classes)
        Out-of-fold probabilities times those of the ensemble.
    """
    if trainer.data.rows_with_weight is not None:
        product = with_rows_of_weight_zero(trainer, product)
    transitions = count_transitions(
        posterior.probability,
        trainer.labels,
        shrunken=True,
        evidence=posterior.evidence,
    )
    everywhere = replace(posterior, transition_matrix=transitions)
    combined = replace(everywhere, probability=product, power=POWER_OF_PRODUCT)
    assessment = combined.assess_all()
    trainer.predict_unseen_samples()
    return LabelFindings(
        is_safe=assessment.is_safe,
        quality=combined.label_quality(),
        suggested=assessment.suggested,
        agreement=trainer.history.agreement(trainer.labels),
        corrected=assessment.labels,
        is_corrected=assessment.labels != trainer.labels,
        transition_matrix=posterior.transition_matrix,
        basis="out of fold",
        disagreement=posterior.disagreement(),
        likeliest=combined.likeliest(),
        planted=everywhere.planted_errors(),
    )


def warn_of_two_classes(estimator: Any, posterior: LabelPosterior) -> None:
    """Warn if networks alone assess two classes of which they predict few labels.

    With two classes, every wrong label of a sample that is mispredicted agrees with the
    prediction, so it is accepted, and the mistake stays.
    """
    n_classes, unpredicted = posterior.probability.shape[1], posterior.disagreement()
    if n_classes > 2 or posterior.evidence or unpredicted < _MANY_UNPREDICTED:
        return
    warn_caller(
        f"{type(estimator).__name__}: {unpredicted:.0%} of the labels of two classes "
        "are not predicted out of fold, and without an assessor the networks may have "
        "confirmed their own mistakes: the result can be worse than that of "
        "DefaultClassifier. Compare both, or give a second opinion: assessor= any "
        "classifier, or fit(..., pred_proba=cross_val_predict(...)).",
        SafeSetWarning,
    )
