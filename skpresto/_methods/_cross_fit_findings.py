"""What CrossPrestopping reports about the labels."""

from dataclasses import replace

from torch import Tensor

from skpresto._label_quality.findings import LabelFindings
from skpresto._label_quality.posterior import LabelPosterior
from skpresto._methods._final_networks import (
    POWER_OF_PRODUCT,
    with_rows_of_weight_zero,
)
from skpresto._training.trainer import Trainer


def cross_fit_findings(
    trainer: Trainer, posterior: LabelPosterior, product: Tensor
) -> LabelFindings:
    """Return what is known of the labels after the final networks were trained.

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
    combined = replace(posterior, probability=product, power=POWER_OF_PRODUCT)
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
    )
