"""What the predictions recorded at every visit say about the training labels."""

from typing import Any

import torch
from torch import Tensor

from skpresto._label_quality.findings import LabelFindings
from skpresto._label_quality.mean_probabilities import MeanProbabilities
from skpresto._training.trainer import Trainer


def early_visits(trainer: Trainer, max_epochs: int) -> MeanProbabilities:
    """Return a mean over the visits of the first half of the epochs.

    Later ones are left out where a network is trained on all labels, since by then it
    predicts many wrong labels that it has memorized.
    """
    n_epochs = -(-max_epochs // 2)
    return MeanProbabilities(trainer.labels, trainer.data.n_classes, n_epochs)


def report_labels(
    trainer: Trainer,
    visits: MeanProbabilities,
    *,
    is_safe: Tensor | None = None,
    corrected: Tensor | None = None,
    **further: Any,
) -> LabelFindings:
    """Return what the predictions of a training say about the labels.

    Parameters
    ----------
    trainer : Trainer
        After training. Suggested labels are the majority votes of its history.
    visits : MeanProbabilities
        The visits from which the quality is computed.
    is_safe : Tensor of shape (n_samples,), dtype=bool, default=None
        Labels that the method accepts; None means those that win the vote.
    corrected : Tensor of shape (n_samples,), default=None
        Corrected label of each sample, if the method corrects labels.
    **further : dict
        Further fields of the findings.
    """
    labels = trainer.labels
    trainer.predict_unseen_samples()
    unseen = visits.unseen()
    if len(unseen):
        visits.add_probability(unseen, trainer.predicted_probabilities(unseen))
    return LabelFindings(
        is_safe=trainer.history.is_safe(labels) if is_safe is None else is_safe,
        quality=visits.label_quality(),
        suggested=trainer.history.vote(),
        agreement=trainer.history.agreement(labels),
        corrected=corrected,
        is_corrected=None if corrected is None else corrected != labels,
        **further,
    )


def selected_or_predicted(trainer: Trainer, is_selected: Tensor) -> Tensor:
    """Return which labels a selection accepts, or a prediction where it has no say.

    Rows of weight 0 are never selected. Their labels are accepted if they are predicted
    after training.
    """
    rows = trainer.data.rows_with_weight
    if rows is None:
        return is_selected
    trainer.predict_unseen_samples()
    is_safe = trainer.history.is_safe(trainer.labels)
    rows = rows.to(is_safe.device)
    return is_safe.index_copy(0, rows, is_selected[rows])


def has_weight(trainer: Trainer) -> Tensor:
    """Return which training samples have a weight, on the device of the labels."""
    weights = trainer.data.sample_weight
    if weights is None:
        return torch.ones_like(trainer.labels, dtype=torch.bool)
    return weights.to(trainer.labels.device) > 0
