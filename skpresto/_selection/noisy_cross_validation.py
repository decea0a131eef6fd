"""INCV: select labels that a network predicts which was not trained on them."""

import math

import torch
from torch import Tensor

from skpresto._selection.small_loss import (
    ExchangeSmallLoss,
    forget_rate,
    is_small_loss,
)
from skpresto._training.policy import Batch, Selection

# A half loses at most twice as many samples as are selected from it.
_MAX_DISCARD_RATIO = 2.0


def noise_rate_of_accuracy(accuracy: float, n_wrong_classes: int) -> float:
    """Return the noise rate at which a network predicts so many of the noisy labels.

    If predictions are as noisy as labels, both are the same class with a probability of
    ``(1 - e) ** 2 + e ** 2 / c``, where e is the noise rate and c the number of classes
    that a wrong label may have. The smaller root e is returned, or the rate of labels
    without information, c / (c + 1), if there is none.

    Examples
    --------
    >>> round(noise_rate_of_accuracy(0.52, n_wrong_classes=1), 6)
    0.4
    """
    share = 1 + 1 / n_wrong_classes
    return (1 - math.sqrt(max(0.0, 1 - share * (1 - accuracy)))) / share


def noise_rate_of_selection(noise_rate: float, n_wrong_classes: int) -> float:
    """Return the expected fraction of wrong labels among those that are predicted.

    Examples
    --------
    >>> round(noise_rate_of_selection(0.5, n_wrong_classes=9), 6)
    0.1
    """
    wrong, right = noise_rate**2, n_wrong_classes * (1 - noise_rate) ** 2
    return wrong / (wrong + right)


class NoisyCrossValidation:
    """The samples that are selected, and those that are still candidates.

    Parameters
    ----------
    labels : Tensor of shape (n_samples,)
        Given labels.
    is_candidate : Tensor of shape (n_samples,), dtype=bool
        Samples that may be selected: at first, all with a weight.

    Attributes
    ----------
    is_selected, is_candidate : Tensor of shape (n_samples,), dtype=bool
        Both sets; samples that are discarded are in neither.
    """

    def __init__(self, labels: Tensor, is_candidate: Tensor) -> None:
        self.labels = labels
        self.is_candidate = is_candidate.clone()
        self.is_selected = torch.zeros_like(is_candidate)

    def take(self, index: Tensor, probabilities: Tensor) -> Tensor:
        """Return which samples at ``index`` are predicted as they are labeled."""
        return probabilities.argmax(dim=1) == self.labels[index]

    def end_round(
        self, halves: list[tuple[Tensor, Tensor]], noise_rate: float | None
    ) -> None:
        """Select samples of both halves, and discard those with the largest losses.

        Parameters
        ----------
        halves : list of tuple
            Positions of the samples in a half, and the probabilities of shape
            (n_half, n_classes) by a network that was not trained on that half.
        noise_rate : float or None
            Fraction e of wrong labels. For each selected sample of a half,
            min(2, e / (1 - e)) are discarded, those with the largest cross-entropy;
            None discards none.
        """
        ratio = 0.0
        if noise_rate is not None:
            ratio = min(_MAX_DISCARD_RATIO, noise_rate / (1 - noise_rate))
        for index, probabilities in halves:
            is_predicted = self.take(index, probabilities)
            n_discarded = int(ratio * int(is_predicted.sum()) + 1e-9)
            given = probabilities.gather(1, self.labels[index].unsqueeze(1)).squeeze(1)
            is_smallest = is_small_loss(given.unsqueeze(0), n_discarded)[0]
            self.is_selected[index] = is_predicted
            self.is_candidate[index] = ~(is_predicted | is_smallest)


class CoTeachOnSelected(ExchangeSmallLoss):
    """Co-teaching on selected samples, later also on remaining candidates.

    Each network leaves out for the other one the fraction of largest losses that is
    expected to be wrong among the selected samples of a batch. After a warm-up, at most
    half as many candidates as there are selected samples compete with them for the same
    number of places.

    Parameters
    ----------
    is_selected, is_candidate : Tensor of shape (n_samples,), dtype=bool
        Both sets.
    noise_rate : float
        Expected fraction of wrong labels among the selected samples.
    ramp_epochs : int
        Epochs until that fraction is left out.
    warm_up : int
        Number of epochs without candidates.
    """

    def __init__(
        self,
        is_selected: Tensor,
        is_candidate: Tensor,
        noise_rate: float,
        ramp_epochs: int,
        warm_up: int,
    ) -> None:
        n_samples, device = len(is_selected), is_selected.device
        super().__init__(n_samples, noise_rate, ramp_epochs, device=str(device))
        self.is_in_selected_set = is_selected
        self.is_candidate = is_candidate
        self.warm_up = warm_up

    def select(self, batch: Batch) -> Selection:
        """Return for each network the small losses of the other one."""
        among = self.is_in_selected_set.index_select(0, batch.index)
        n_selected = among.sum()
        if batch.epoch >= self.warm_up:
            others = self.is_candidate.index_select(0, batch.index)
            among = among | (others & (others.cumsum(0) <= n_selected // 2))
        rate = forget_rate(batch.epoch, self.noise_rate, self.ramp_epochs)
        # Without the small offset, products such as 0.9 * 10 may round down to 8.
        n_kept = ((1 - rate) * n_selected + 1e-6).floor().clamp(min=1)
        losses = batch.losses.masked_fill(~among, torch.inf)
        return self._exchange(batch, among & is_small_loss(losses, n_kept))
