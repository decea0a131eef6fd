"""Refurbishment: give a sample the label that the network keeps predicting."""

import math

import torch
from torch import Tensor

from skpresto._training.batch import Batch, Selection
from skpresto._training.label_history import LabelHistory
from skpresto._training.policy import CorrectingPolicy
from skpresto._training.trainer import Trainer


class Refurbisher:
    """Correct the labels of samples that the network predicts consistently.

    A sample is refurbishable while the entropy of its last q predictions, divided by
    the logarithm of the number of classes, is at most ``epsilon``; its corrected label
    is then the class predicted most often. A label once corrected stays, until the
    sample is refurbishable again. A sample with fewer than q predictions is not
    refurbishable, however much they agree.

    Parameters
    ----------
    history : LabelHistory
        The last q predictions.
    n_samples, n_classes : int
        Size of the training set.
    epsilon : float
        Largest uncertainty at which a label is corrected.
    device : str or torch.device
        Where the corrected labels live.

    Attributes
    ----------
    corrected : Tensor of shape (n_samples,)
        Corrected label of each sample, -1 where there is none.
    """

    def __init__(
        self,
        history: LabelHistory,
        n_samples: int,
        n_classes: int,
        epsilon: float,
        device: str | torch.device = "cpu",
    ) -> None:
        self.history = history
        self.n_classes = n_classes
        self.epsilon = epsilon
        self.corrected = torch.full((n_samples,), -1, device=device)

    @classmethod
    def for_trainer(cls, trainer: Trainer, epsilon: float) -> "Refurbisher":
        """Return a refurbisher for the samples of a trainer."""
        return cls(
            trainer.label_history,
            len(trainer.labels),
            trainer.data.n_classes,
            epsilon,
            trainer.labels.device,
        )

    def corrected_or(self, labels: Tensor) -> Tensor:
        """Return the corrected label of each sample, or else the one in ``labels``."""
        return torch.where(self.corrected >= 0, self.corrected, labels)

    def labels_of_batch(self, batch: Batch) -> Tensor:
        """Return the corrected labels of the batch recorded last, -1 where none."""
        shares = self.history.frequencies_of_batch()
        entropy = torch.special.entr(shares).sum(dim=0) / math.log(self.n_classes)
        is_certain = entropy <= self.epsilon
        is_refurbishable = is_certain & self.history.is_full_of_batch()
        before = self.corrected.index_select(0, batch.index)
        labels = torch.where(is_refurbishable, self.history.vote_of_batch(), before)
        self.corrected.index_copy_(0, batch.index, labels)
        return labels


class LearnSafeAndRefurbished(CorrectingPolicy):
    """Learn the safe samples as given and others once their label is corrected.

    Parameters
    ----------
    refurbisher : Refurbisher
        Corrects labels.
    is_safe : Tensor of shape (n_samples,), dtype=bool
        The safe set, which stays as it is.
    warm_up : int
        Number of epochs in which only that is learnt from.
    """

    def __init__(self, refurbisher: Refurbisher, is_safe: Tensor, warm_up: int) -> None:
        super().__init__()
        self.refurbisher = refurbisher
        self.is_safe = is_safe
        self.warm_up = warm_up

    def select(self, batch: Batch) -> Selection:
        """Return the safe samples, and after the warm-up the corrected ones too."""
        is_safe = self.is_safe.index_select(0, batch.index)
        if batch.epoch < self.warm_up:
            return Selection(weights=is_safe.to(batch.losses.dtype).unsqueeze(0))
        corrected = self.refurbisher.labels_of_batch(batch)
        is_corrected = (corrected >= 0) & ~is_safe
        labels = torch.where(is_corrected, corrected, batch.labels)
        weights = (is_safe | is_corrected).to(batch.losses.dtype).unsqueeze(0)
        self.count_corrected(labels != batch.labels)
        return Selection(weights=weights, labels=labels)
