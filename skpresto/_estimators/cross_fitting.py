"""The stages of CrossPrestopping: fold networks, then final networks."""

import numpy as np
import torch
from torch import Tensor

from skpresto._engine.trainer import Trainer
from skpresto._label_quality.blocks import row_sums
from skpresto._label_quality.out_of_fold import OutOfFoldProbabilities
from skpresto._label_quality.posterior import LabelAssessment, LabelPosterior
from skpresto._label_quality.trajectories import begin_trajectories
from skpresto._selection.cross_fit import (
    CoTeachOnCleanedLabels,
    SelectByOutOfFoldPosterior,
)

#: Epochs on all labels before labels are weighted, unless a stop rule is given. Later
#: starts lose on pair noise, earlier ones on symmetric noise (benchmarks/NOTES.md).
PHASE_ONE_EPOCHS = 3
# Two, to select for each other. Further ones improve little, and each costs one fit.
_N_FINAL_NETWORKS = 2


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

    Networks that reject most labels have learned too little to assess them. Training on
    all labels is therefore extended until half of the labels are accepted, for at most
    half of ``n_epochs``. If fewer than half are accepted then, or in the end, None is
    returned.

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

    def accepts_half() -> bool:
        return _accepts_half(policy.acceptance, probabilities.is_known())

    trainer.run(policy, stop_epoch, stage="cross-fit phase 1", observe=observe)
    n_further = last_start(n_epochs) - stop_epoch
    if not accepts_half() and not trainer.run(
        policy,
        n_further,
        stage="cross-fit phase 1",
        until=accepts_half,
        observe=observe,
    ):
        return None
    policy.is_selecting = True
    n_left = n_epochs - trainer.n_epochs
    trainer.run(policy, n_left, stage="cross-fit phase 2", observe=observe)
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
    )
    is_known = row_sums(posterior.probability) > 0
    return posterior if _accepts_half(posterior, is_known) else None


def last_start(n_epochs: int) -> int:
    """Return after how many epochs labels must be weighted: half, rounded up.

    Otherwise a stop rule that is not settled would let fold networks memorize all
    labels.
    """
    return -(-n_epochs // 2)


def _accepts_half(posterior: LabelPosterior, is_known: Tensor) -> bool:
    """Return whether at least half of the assessed labels are accepted."""
    is_safe = posterior.assess_all().is_safe[is_known]
    return is_safe.double().mean().item() >= 0.5


def with_rows_of_weight_zero(
    trainer: Trainer, posterior: LabelPosterior, assessment: LabelAssessment
) -> LabelAssessment:
    """Return an assessment of all labels, after training.

    Rows of weight 0 must not influence the training, so nothing was known of them. They
    are assessed by what all networks predict, with the transition matrix counted
    before.
    """
    is_weightless = row_sums(posterior.probability) == 0
    rows = is_weightless.nonzero().squeeze(1)
    predicted = trainer.predicted_probabilities(rows)
    posterior.probability[rows] = predicted.to(posterior.probability.dtype)
    parts = zip(assessment, posterior.assess(rows), strict=True)
    return LabelAssessment(*(whole.index_copy(0, rows, part) for whole, part in parts))


def train_final_networks(
    trainer: Trainer, assessment: LabelAssessment, max_epochs: int
) -> None:
    """Train networks on usable labels, as an ensemble with the fold networks."""
    # Copies of a pretrained instance, trained on the same batches, stay equal.
    n_networks = 1 if trainer.net.blueprint_.is_pretrained else _N_FINAL_NETWORKS
    trainer.start(n_networks, folds=trainer.net.networks)
    trainer.run(CoTeachOnCleanedLabels(assessment), max_epochs, stage="final")
