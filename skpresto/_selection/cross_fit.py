"""The two policies of CrossPrestopping: fold networks and final networks."""

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from skpresto._label_quality.out_of_fold import OutOfFoldProbabilities
from skpresto._label_quality.posterior import LabelAssessment, LabelPosterior
from skpresto._selection.base import Batch, CorrectingPolicy, Selection
from skpresto._selection.small_loss import forget_rate, is_small_loss

#: Epochs until the full expected fraction of wrong labels is left out, the default of
#: Co-teaching.
_RAMP_EPOCHS = 10


class SelectByOutOfFoldPosterior(CorrectingPolicy):
    """Train fold networks on all labels at first, then on labels that are accepted.

    Each network leaves one fold out. A label is accepted if its posterior probability,
    computed from the probabilities of the network that does not train on the sample,
    is at least one half; it is corrected if another class is nearly certain.

    Parameters
    ----------
    probabilities : OutOfFoldProbabilities
        Running means of the out-of-fold probabilities, updated at each visit.
    labels : Tensor of shape (n_samples,)
        All given labels.
    epsilon : float
        Largest probability of error at which a label is corrected.

    Attributes
    ----------
    is_selecting : bool
        Whether labels are selected; False at first, when all are learned.
    """

    acceptance: LabelPosterior

    def __init__(
        self, probabilities: OutOfFoldProbabilities, labels: Tensor, epsilon: float
    ) -> None:
        super().__init__()
        self.probabilities = probabilities
        self.acceptance = LabelPosterior(probabilities.mean, labels, epsilon)
        self.is_selecting = False
        self._counted_in = -1

    def select(self, batch: Batch) -> Selection:
        """Return for each network the accepted labels outside its own fold."""
        is_trained = self.probabilities.add_batch(batch.index, batch.logits)
        if not self.is_selecting:
            return Selection(weights=is_trained.to(batch.losses.dtype))
        if self._counted_in != batch.epoch:
            # Once per epoch, since the probabilities improve in the course of training.
            self.acceptance.count_transitions()
            self._counted_in = batch.epoch
        assessed = self.acceptance.assess(batch.index)
        self.count_corrected(assessed.is_corrected)
        weights = (is_trained & assessed.is_usable).to(batch.losses.dtype)
        return Selection(weights=weights, targets=assessed.labels)


class CoTeachOnCleanedLabels(CorrectingPolicy):
    """Train final networks on accepted and corrected labels, by small-loss exchange.

    The posterior gives the expected fraction of labels that are still wrong. That
    fraction of each batch is left out, as in Co-teaching: each network leaves out for
    the other one the labels with the largest cross-entropy. A single network does so
    for itself. Fractions of a sample are carried over to the next batch.

    Parameters
    ----------
    assessment : LabelAssessment
        What is known of every training label.
    """

    def __init__(self, assessment: LabelAssessment) -> None:
        super().__init__()
        self._labels = assessment.labels
        self._is_usable = assessment.is_usable
        errors = assessment.error_probability[self._is_usable]
        self.expected_noise_rate = errors.mean().item() if len(errors) else 0.0
        self._carried_over: Tensor | float = 0.0

    def select(self, batch: Batch) -> Selection:
        """Return for each network the usable labels that the other one keeps."""
        is_usable = self._is_usable.index_select(0, batch.index)
        labels = self._labels.index_select(0, batch.index)
        n_usable = is_usable.sum()
        rate = forget_rate(batch.epoch, self.expected_noise_rate, _RAMP_EPOCHS)
        due = self._carried_over + rate * n_usable
        n_left_out = due.floor()
        self._carried_over = due - n_left_out
        losses = _cross_entropies(batch.logits, labels)
        losses = losses.masked_fill(~is_usable, torch.inf)
        is_kept = is_usable & is_small_loss(losses, n_usable - n_left_out)
        self.count_corrected((labels != batch.labels) & is_kept.any(dim=0))
        weights = is_kept.flip(0).to(batch.losses.dtype)
        return Selection(weights=weights, targets=labels)


def _cross_entropies(logits: Tensor, labels: Tensor) -> Tensor:
    """Return the cross-entropy of each network and sample, of shape (k, b)."""
    flat = logits.flatten(0, 1)
    targets = labels.expand(logits.shape[:2]).flatten()
    return cross_entropy(flat, targets, reduction="none").view(logits.shape[:2])
