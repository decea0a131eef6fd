"""The two policies of CrossPrestopping: fold networks and final networks."""

import torch
from torch import Tensor

from skpresto._label_quality.blocks import row_sums
from skpresto._label_quality.out_of_fold import OutOfFoldProbabilities
from skpresto._label_quality.posterior import LabelPosterior
from skpresto._training.policy import Batch, CorrectingPolicy, Selection


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
        self.acceptance = LabelPosterior(
            probabilities.mean, labels, epsilon, shrunken=True
        )
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


class LearnPosterior(CorrectingPolicy):
    """Train final networks on the posterior class probabilities of every sample.

    As in distillation, the targets are probabilities: a label that is half believed is
    half learned, and no sample is left out.

    Parameters
    ----------
    posterior : LabelPosterior
        What the fold networks say about every training label.
    takes_probabilities : bool, default=True
        Whether the criterion takes class probabilities as targets. If not, the most
        probable class is learned, with its posterior probability as the weight.
    """

    def __init__(
        self, posterior: LabelPosterior, takes_probabilities: bool = True
    ) -> None:
        super().__init__()
        self.posterior = posterior
        self.takes_probabilities = takes_probabilities
        # A sample of which nothing is known has no posterior, and is not learned.
        all_known = bool((row_sums(posterior.probability) > 0).all())
        self.may_select_nothing = not (all_known and takes_probabilities)

    def select(self, batch: Batch) -> Selection:
        """Return the same targets for all networks."""
        posterior = self.posterior.posterior(batch.index).to(batch.logits.dtype)
        highest, suggested = posterior.max(dim=1)
        self.count_corrected((suggested != batch.labels) & (highest > 0))
        shape = batch.logits.shape[:2]
        if not self.takes_probabilities:
            return Selection(weights=highest.expand(shape), targets=suggested)
        weights = None
        if self.may_select_nothing:
            weights = (highest > 0).to(batch.losses.dtype).expand(shape)
        return Selection(weights=weights, targets=posterior)
