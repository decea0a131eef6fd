"""The stages of CrossPrestopping: fold networks, then final networks."""

from copy import copy

import numpy as np
import torch
from torch import Tensor

from skpresto._label_quality.blocks import blocks, row_sums
from skpresto._label_quality.out_of_fold import OutOfFoldProbabilities
from skpresto._label_quality.posterior import LabelPosterior
from skpresto._label_quality.trajectories import begin_trajectories
from skpresto._networks.probe import takes_probabilities
from skpresto._selection.cross_fit import LearnPosterior, SelectByOutOfFoldPosterior
from skpresto._training.divergence import check_networks
from skpresto._training.trainer import Trainer

#: Epochs on all labels before labels are weighted, unless a stop rule is given. Later
#: starts lose on pair noise, earlier ones on symmetric noise (benchmarks/NOTES.md).
PHASE_ONE_EPOCHS = 3
# A third one improves little, and costs another fit.
_N_FINAL_NETWORKS = 2
# Power of the product of two probabilities. They are not independent: with 1 they would
# count as two observations, with 0.5 as one (benchmarks/NOTES.md).
_POWER_OF_PRODUCT = 0.7
# Fold networks must accept this fraction of all labels, and of those of each class that
# is not rare: that has this fraction of the mean number of labels per class.
_LEAST_OF_ALL, _LEAST_OF_CLASS, _NOT_RARE = 0.5, 0.1, 0.5


def train_fold_networks(
    trainer: Trainer,
    fold_of: np.ndarray,
    stop_epoch: int,
    n_epochs: int,
    epsilon: float,
    q: int,
) -> LabelPosterior | None:
    """Train one network per fold, which leaves that fold out; return the posterior.

    The networks are trained on all labels for ``stop_epoch`` epochs and on labels
    weighted by their posterior for the rest of ``n_epochs``. They remain in
    ``trainer.net``.

    Networks that reject most labels, or nearly all of a class, have learned too little
    to assess them. Training on all labels is therefore extended until enough labels are
    accepted (:func:`accepts_enough`), for at most half of ``n_epochs``. If too few are
    accepted after half of ``n_epochs``, or in the end, None is returned.

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
    """
    trainer.start(n_networks=fold_of.max() + 1, n_epochs=n_epochs)
    folds = torch.from_numpy(fold_of).to(trainer.labels.device)
    observe = begin_trajectories(trainer.labels, folds)
    probabilities = OutOfFoldProbabilities(folds, trainer.data.n_classes, q)
    policy = SelectByOutOfFoldPosterior(probabilities, trainer.labels, epsilon)

    def is_ready() -> bool:
        return accepts_enough(policy.acceptance, probabilities.is_known())

    latest = last_start(n_epochs)

    def is_too_late() -> bool:
        return trainer.n_epochs == latest and not is_ready()

    trainer.run(policy, stop_epoch, stage="cross-fit phase 1", observe=observe)
    n_further = latest - stop_epoch
    if not is_ready() and not trainer.run(
        policy,
        n_further,
        stage="cross-fit phase 1",
        until=is_ready,
        observe=observe,
    ):
        return None
    policy.is_selecting = True
    if trainer.run(
        policy,
        n_epochs - trainer.n_epochs,
        stage="cross-fit phase 2",
        until=is_too_late,
        observe=observe,
    ):
        return None
    is_unseen = ~probabilities.is_known()
    if trainer.data.sample_weight is not None:
        is_unseen &= trainer.data.sample_weight.to(is_unseen.device) > 0
    unseen = is_unseen.nonzero().squeeze(1)
    if len(unseen):
        probabilities.add(unseen, trainer.predicted_probabilities(unseen))
    posterior = LabelPosterior(
        probabilities.finalize(trainer.labels),
        trainer.labels,
        epsilon,
        confident_only=True,
        shrunken=True,
    )
    is_known = row_sums(posterior.probability) > 0
    return posterior if accepts_enough(posterior, is_known) else None


def last_start(n_epochs: int) -> int:
    """Return after how many epochs labels must be weighted: half, rounded up.

    Otherwise a stop rule that is not settled would let fold networks memorize all
    labels.
    """
    return -(-n_epochs // 2)


def accepts_enough(posterior: LabelPosterior, is_known: Tensor) -> bool:
    """Return whether half of the labels are accepted, and some of each class.

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
    is_safe = posterior.agrees(posterior.labels)[is_known]
    labels = posterior.labels[is_known]
    n_classes = posterior.probability.shape[1]
    n_given = torch.bincount(labels, minlength=n_classes).double()
    n_safe = torch.bincount(labels[is_safe], minlength=n_classes)
    is_lost = (n_safe < _LEAST_OF_CLASS * n_given) & (
        n_given >= _NOT_RARE * n_given.mean()
    )
    is_half = is_safe.double().mean().item() >= _LEAST_OF_ALL
    return is_half and not is_lost.any().item()


def combined_with_ensemble(
    trainer: Trainer, posterior: LabelPosterior
) -> LabelPosterior:
    """Return a posterior from probabilities times those that all networks predict.

    The network not trained on a label is unbiased, but it is a single network. The mean
    of all fold networks is more accurate, but biased towards labels that were learned.
    Labels are ranked better by both; networks trained on both are no more accurate. The
    transition matrix remains as counted from out-of-fold probabilities.
    """
    check_networks(trainer.net)  # of a divergence in the last step
    combined = copy(posterior)
    combined.probability = posterior.probability.clone()
    for part in blocks(*combined.probability.shape):
        index = torch.arange(part.start, part.stop, device=trainer.labels.device)
        predicted = trainer.predicted_probabilities(index)
        combined.combine(index, predicted, _POWER_OF_PRODUCT)
    return combined


def add_rows_of_weight_zero(trainer: Trainer, posterior: LabelPosterior) -> None:
    """Add what all networks predict for rows of weight 0, after training.

    They must not influence the training, so nothing was known of them.
    """
    rows = (row_sums(posterior.probability) == 0).nonzero().squeeze(1)
    # Not a product, so the power is undone.
    predicted = trainer.predicted_probabilities(rows).pow_(1 / posterior.power)
    posterior.probability[rows] = predicted.to(posterior.probability.dtype)


def train_final_networks(
    trainer: Trainer, posterior: LabelPosterior, max_epochs: int
) -> None:
    """Train networks on the posterior, as an ensemble with the fold networks."""
    # Copies of a pretrained instance, trained on the same batches, stay equal.
    n_networks = 1 if trainer.net.blueprint_.is_pretrained else _N_FINAL_NETWORKS
    trainer.start(n_networks, folds=trainer.net.networks)
    weight = next(trainer.net.module_.final.parameters())
    logits = weight.new_zeros((2, trainer.data.n_classes))
    can_distill = takes_probabilities(trainer.net.criterion_, logits)
    trainer.run(LearnPosterior(posterior, can_distill), max_epochs, stage="final")
