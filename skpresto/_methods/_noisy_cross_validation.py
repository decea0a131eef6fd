"""The bookkeeping of INCV: which labels are selected, and noise rates that follow."""

import math

import torch
from torch import Tensor

from skpresto._label_quality.mean_probabilities import MeanProbabilities
from skpresto._methods._small_loss import is_small_loss

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

    def is_predicted(self, index: Tensor, probabilities: Tensor) -> Tensor:
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
            is_predicted = self.is_predicted(index, probabilities)
            n_discarded = int(ratio * int(is_predicted.sum()) + 1e-9)
            given = probabilities.gather(1, self.labels[index].unsqueeze(1)).squeeze(1)
            is_smallest = is_small_loss(given.unsqueeze(0), n_discarded)[0]
            self.is_selected[index] = is_predicted
            self.is_candidate[index] = ~(is_predicted | is_smallest)


class VisitsOfHalf(MeanProbabilities):
    """Average the probabilities of samples while a network is not trained on them.

    Attributes
    ----------
    is_recorded : Tensor of shape (n_samples,), dtype=bool
        The samples of the other half at present; at first, all.
    """

    def __init__(self, labels: Tensor, n_classes: int) -> None:
        super().__init__(labels, n_classes)
        self.is_recorded = torch.ones_like(labels, dtype=torch.bool)

    def record_only(self, is_recorded: Tensor) -> None:
        """Record other samples from now on."""
        self.end_epoch()
        self.is_recorded = is_recorded

    def add_probability(self, index: Tensor, probability: Tensor) -> None:
        """Add a visit to those samples that are recorded."""
        # Of many batches together, since a GPU is waited for.
        among = self.is_recorded[index]
        super().add_probability(index[among], probability[among])
