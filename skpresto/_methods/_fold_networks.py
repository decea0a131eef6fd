"""The fold networks of CrossPrestopping, by which labels are assessed out of fold."""

from collections.abc import Callable
from typing import Literal

import numpy as np
import torch
from torch import Tensor

from skpresto._data.batch import Batch
from skpresto._device import fraction_of
from skpresto._label_quality.blocks import row_sums
from skpresto._label_quality.out_of_fold import OutOfFoldProbabilities
from skpresto._label_quality.posterior import LabelPosterior
from skpresto._training.policy import CorrectingPolicy, Selection
from skpresto._training.stage import Stage
from skpresto._training.trainer import Trainer

# Fold networks must accept this fraction of all labels, and of those of each class that
# is not rare: that has this fraction of the mean number of labels per class.
_LEAST_OF_ALL, _LEAST_OF_CLASS, _NOT_RARE = 0.5, 0.1, 0.5


class SelectByOutOfFoldPosterior(CorrectingPolicy):
    """Train fold networks on all labels at first, then by how likely they are correct.

    Each network leaves one fold out. A label is learned while it is the class of the
    highest posterior probability, computed from the probabilities of the network that
    does not train on the sample, with a weight by its lead (:func:`weights_by_lead`).
    It is corrected if another class is nearly certain.

    Parameters
    ----------
    probabilities : OutOfFoldProbabilities
        Running means of the out-of-fold probabilities. They have to be a recorder of
        the stage, so that those of a batch include its present visit.
    labels : Tensor of shape (n_samples,)
        All given labels.
    epsilon : float
        Largest probability of error at which a label is corrected.
    given : Tensor of shape (n_samples, n_classes), default=None
        Probabilities that each label is given, as evidence
        (:class:`~skpresto._label_quality.evidence.Evidence`).

    Attributes
    ----------
    is_selecting : bool
        Whether labels are weighted; False at first, when all are learned.
    """

    def __init__(
        self,
        probabilities: OutOfFoldProbabilities,
        labels: Tensor,
        epsilon: float,
        given: Tensor | None = None,
    ) -> None:
        super().__init__()
        self.probabilities = probabilities
        self.labels = labels
        self.epsilon = epsilon
        self.given = given
        self.is_selecting = False
        self._present: LabelPosterior | None = None

    def select(self, batch: Batch) -> Selection:
        """Return for each network the weights of labels outside its own fold."""
        assert batch.fold is not None
        networks = torch.arange(len(batch.logits), device=batch.fold.device)
        is_trained = networks.unsqueeze(1) != batch.fold
        if not self.is_selecting:
            return Selection(weights=is_trained.to(batch.losses.dtype))
        if self._present is None:
            # Once per epoch, since the probabilities improve in the course of training.
            self._present = self.posterior()
        assessed = self._present.assess(batch.index)
        self.count_corrected(assessed.is_corrected)
        posterior = self._present.posterior(batch.index)
        weights = weights_by_lead(posterior, batch.labels)
        weights.masked_fill_(assessed.is_corrected, 1)
        weights = is_trained * weights.to(batch.losses.dtype)
        return Selection(weights=weights, targets=assessed.labels)

    def end_epoch(self) -> dict[str, float]:
        """Return the fraction of corrected labels; T will be counted anew."""
        self._present = None  # two transition matrices of many classes are large
        return super().end_epoch()

    def posterior(self) -> LabelPosterior:
        """Return what is known at present of all labels."""
        return LabelPosterior.counted(
            self.probabilities.mean,
            self.labels,
            self.epsilon,
            self.given,
            shrunken=True,
        )

    def is_safe(self) -> Tensor:
        """Return which labels have a posterior probability of at least one half."""
        return self.posterior().assess_all().is_safe


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


def train_fold_networks(
    trainer: Trainer,
    fold_of: np.ndarray,
    stop_epoch: int,
    n_epochs: int,
    epsilon: float,
    q: int,
    given: Tensor | None = None,
) -> tuple[LabelPosterior, bool]:
    """Train one network per fold, which leaves that fold out.

    The networks are trained on all labels for ``stop_epoch`` epochs and on labels
    weighted by their posterior for the rest of ``n_epochs``. They remain in
    ``trainer.net``.

    Networks that reject most labels, or nearly all of a class, have learned too little
    to assess them. Training on all labels is therefore extended until enough labels are
    safe (:func:`enough_are_safe`), for at most half of ``n_epochs``. If too few are
    safe after half of ``n_epochs``, or in the end, they are not accurate.

    Parameters
    ----------
    trainer : Trainer
        Its networks are replaced.
    fold_of : ndarray of shape (n_samples,)
        The fold of each sample, -1 for samples in no fold.
    stop_epoch, n_epochs : int
        Length of the first stage, and of both.
    epsilon : float
        Largest probability of error at which a label is corrected.
    q : int
        Number of visits over which probabilities are averaged.
    given : Tensor of shape (n_samples, n_classes), default=None
        Probabilities that each label is given, as evidence.

    Returns
    -------
    posterior : LabelPosterior
        What is known of all labels.
    is_accurate : bool
        Whether the networks have learned enough to assess them.
    """
    trainer.start(n_networks=fold_of.max() + 1, n_epochs=n_epochs)
    folds = torch.from_numpy(fold_of).to(trainer.labels.device)
    probabilities = OutOfFoldProbabilities(trainer.labels, trainer.data.n_classes, q)
    policy = SelectByOutOfFoldPosterior(probabilities, trainer.labels, epsilon, given)
    latest = last_start(n_epochs)

    def is_ready() -> bool:
        return enough_are_safe(policy.posterior(), probabilities.is_known())

    def is_too_late() -> bool:
        return trainer.n_epochs == latest and not is_ready()

    def run(
        phase: Literal[1, 2], n: int, until: Callable[[], bool] | None = None
    ) -> bool:
        name, recorders = f"cross-fit phase {phase}", [probabilities]
        return trainer.run(
            Stage(name, policy, n, phase, until=until, recorders=recorders, folds=folds)
        )

    run(1, stop_epoch)
    is_accurate = is_ready() or run(1, latest - stop_epoch, until=is_ready)
    if is_accurate:
        policy.is_selecting = True
        is_accurate = not run(2, n_epochs - trainer.n_epochs, until=is_too_late)
    posterior = _final_posterior(trainer, probabilities, epsilon, given)
    is_known = row_sums(posterior.probability) > 0
    return posterior, is_accurate and enough_are_safe(posterior, is_known)


def _final_posterior(
    trainer: Trainer,
    probabilities: OutOfFoldProbabilities,
    epsilon: float,
    given: Tensor | None,
) -> LabelPosterior:
    is_unseen = ~probabilities.is_known()
    if trainer.sample_weight is not None:
        is_unseen &= trainer.sample_weight > 0
    unseen = is_unseen.nonzero().squeeze(1)
    if len(unseen):
        probabilities.add(unseen, trainer.predicted_probabilities(unseen))
    # Of two opinions errors are rare, and hard samples have their share in the noise;
    # among the more confident half it seems less than it is (benchmarks/NOTES.md).
    return LabelPosterior.counted(
        probabilities.scaled(),
        trainer.labels,
        epsilon,
        given,
        confident_only=given is None,
        shrunken=True,
    )


def last_start(n_epochs: int) -> int:
    """Return after how many epochs labels must be weighted: half, rounded up.

    Otherwise a stop rule that is not settled would let fold networks memorize all
    labels.
    """
    return -(-n_epochs // 2)


def enough_are_safe(posterior: LabelPosterior, is_known: Tensor) -> bool:
    """Return whether half of the labels are safe, and some of each class.

    Networks that have not learned to predict a class take its labels for mistakes, and
    would never learn it from then on. Rare classes, of which few labels may be correct,
    are not considered.

    Parameters
    ----------
    posterior : LabelPosterior
        What is known of the labels.
    is_known : Tensor of shape (n_samples,), dtype=bool
        The samples that are assessed.
    """
    # A number per class, in float64: on the host.
    is_safe = posterior.assess_all().is_safe[is_known].cpu()
    labels = posterior.labels[is_known].cpu()
    n_classes = posterior.probability.shape[1]
    n_given = torch.bincount(labels, minlength=n_classes).double()
    n_safe = torch.bincount(labels[is_safe], minlength=n_classes)
    is_lost = (n_safe < _LEAST_OF_CLASS * n_given) & (
        n_given >= _NOT_RARE * n_given.mean()
    )
    is_half = fraction_of(is_safe) >= _LEAST_OF_ALL
    return is_half and not is_lost.any().item()
