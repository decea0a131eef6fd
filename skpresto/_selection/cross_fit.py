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
    """Train fold networks on all labels at first, then by how likely they are correct.

    Each network leaves one fold out. A label is learned while it is the class of the
    highest posterior probability, computed from the probabilities of the network that
    does not train on the sample, with a weight by its lead (:func:`weights_by_lead`).
    It is corrected if another class is nearly certain.

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
        Whether labels are weighted; False at first, when all are learned.
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
        """Return for each network the weights of labels outside its own fold."""
        is_trained = self.probabilities.add_batch(batch.index, batch.logits)
        if not self.is_selecting:
            return Selection(weights=is_trained.to(batch.losses.dtype))
        if self._counted_in != batch.epoch:
            # Once per epoch, since the probabilities improve in the course of training.
            self.acceptance.count_transitions()
            self._counted_in = batch.epoch
        assessed = self.acceptance.assess(batch.index)
        self.count_corrected(assessed.is_corrected)
        posterior = self.acceptance.posterior(batch.index)
        weights = weights_by_lead(posterior, batch.labels)
        weights.masked_fill_(assessed.is_corrected, 1)
        weights = is_trained * weights.to(batch.losses.dtype)
        return Selection(weights=weights, targets=assessed.labels)


def weights_by_lead(posterior: Tensor, labels: Tensor) -> Tensor:
    """Return weights of labels by their lead over the most probable other class.

    A label of posterior probability a, where the most probable other class has b, has
    the weight ``a / (a + b)``, and none if that is below one half. A threshold on a
    itself would leave out labels of hard samples, whose posterior is spread over many
    classes.

    Examples
    --------
    >>> posterior = torch.tensor([[0.75, 0.25, 0.0], [0.3, 0.5, 0.2], [0.4, 0.2, 0.4]])
    >>> weights_by_lead(posterior, torch.tensor([0, 0, 0])).tolist()
    [0.75, 0.0, 0.5]
    """
    column = labels.unsqueeze(1)
    own = posterior.gather(1, column).squeeze(1)
    other = posterior.scatter(1, column, 0).amax(dim=1)
    # A sample of which nothing is known has no posterior and no weight.
    weights = own / (own + other).clamp_(min=torch.finfo(own.dtype).tiny)
    return weights.masked_fill_(weights < 0.5, 0)


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
