"""Refurbishment: correct a label that the network consistently predicts otherwise."""

import math

import torch
from torch import Tensor

from skpresto._data.batch import Batch
from skpresto._data.state import Stateful
from skpresto._label_quality.history import PredictionHistory


class Refurbisher(Stateful):
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

    _state = ("corrected",)

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
