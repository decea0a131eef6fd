"""Refurbishment: correct a label that the network consistently predicts otherwise."""

import math

import numpy as np
import torch
from torch import Tensor

from skpresto._label_quality.history import PredictionHistory
from skpresto._selection.small_loss import is_small_loss
from skpresto._training.policy import Batch, CorrectingPolicy, Selection


class Refurbisher:
    """Correct the labels of samples with consistent predictions.

    A sample is refurbishable while the entropy of its last q predictions, divided by
    the logarithm of the number of classes, is at most ``epsilon``; its corrected label
    is then the class predicted most often. A corrected label is kept until the sample
    is refurbishable again. A sample with fewer than q predictions is not
    refurbishable.

    Parameters
    ----------
    history : PredictionHistory
        The last q predictions.
    labels : Tensor of shape (n_samples,)
        Given labels.
    epsilon : float
        Largest normalized entropy at which a label is corrected.

    Attributes
    ----------
    corrected : Tensor of shape (n_samples,)
        Corrected label of each sample, -1 where there is none.
    """

    def __init__(
        self, history: PredictionHistory, labels: Tensor, epsilon: float
    ) -> None:
        self.history = history
        self.epsilon = epsilon
        self.corrected = torch.full_like(labels, -1)

    def corrected_or(self, labels: Tensor) -> Tensor:
        """Return the corrected label where there is one, ``labels`` elsewhere."""
        return torch.where(self.corrected >= 0, self.corrected, labels)

    def labels_of_batch(self, batch: Batch) -> Tensor:
        """Return corrected labels of the batch recorded last, -1 where none."""
        frequencies = self.history.frequencies_of_batch()
        entropy = torch.special.entr(frequencies).sum(dim=0)
        is_certain = entropy / math.log(self.history.n_classes) <= self.epsilon
        is_refurbishable = is_certain & self.history.is_full_of_batch()
        before = self.corrected.index_select(0, batch.index)
        labels = torch.where(is_refurbishable, self.history.vote_of_batch(), before)
        self.corrected.index_copy_(0, batch.index, labels)
        return labels


class LearnSafeAndRefurbished(CorrectingPolicy):
    """Learn from a fixed safe set, and from other samples once they are corrected.

    The second stage of Prestopping+ (Eq. 5 of the paper).

    Parameters
    ----------
    refurbisher : Refurbisher
        Corrects labels.
    is_safe : Tensor of shape (n_samples,), dtype=bool
        The safe set. It does not change.
    warm_up : int
        Number of epochs in which only the safe set is learned.
    """

    def __init__(self, refurbisher: Refurbisher, is_safe: Tensor, warm_up: int) -> None:
        super().__init__()
        self.refurbisher = refurbisher
        self.is_safe = is_safe
        self.warm_up = warm_up

    def select(self, batch: Batch) -> Selection:
        """Return the safe samples and, after the warm-up, the corrected ones."""
        is_safe = self.is_safe.index_select(0, batch.index)
        if batch.epoch < self.warm_up:
            return Selection(weights=is_safe.to(batch.losses.dtype).unsqueeze(0))
        corrected = self.refurbisher.labels_of_batch(batch)
        is_corrected = (corrected >= 0) & ~is_safe
        labels = torch.where(is_corrected, corrected, batch.labels)
        weights = (is_safe | is_corrected).to(batch.losses.dtype).unsqueeze(0)
        self.count_corrected(labels != batch.labels)
        return Selection(weights=weights, targets=labels)


class RefurbishAndSelect(CorrectingPolicy):
    """SELFIE: learn from corrected samples, and from small losses among the others.

    Attributes
    ----------
    is_trusted : Tensor of shape (n_samples,), dtype=bool
        Whether the sample was learned with its given label at its last visit.
    """

    def __init__(
        self, refurbisher: Refurbisher, noise_rate: float, warm_up: int
    ) -> None:
        super().__init__()
        self.refurbisher = refurbisher
        self.noise_rate = noise_rate
        self.warm_up = warm_up
        self.is_trusted = torch.ones_like(refurbisher.corrected, dtype=torch.bool)

    def select(self, batch: Batch) -> Selection:
        """Return all in the warm-up, later corrected samples and small losses."""
        if batch.epoch < self.warm_up:
            return Selection()
        corrected = self.refurbisher.labels_of_batch(batch)
        is_corrected = corrected >= 0
        n_clean = int(np.ceil((1 - self.noise_rate) * len(corrected) - 1e-9))
        is_clean = is_small_loss(batch.losses, n_clean)[0]
        labels = torch.where(is_corrected, corrected, batch.labels)
        weights = (is_clean | is_corrected).to(batch.losses.dtype).unsqueeze(0)
        is_given = labels == batch.labels
        self.count_corrected(is_corrected & ~is_given)
        self.is_trusted.index_copy_(0, batch.index, (weights[0] > 0) & is_given)
        return Selection(weights=weights, targets=labels)
