"""Small-loss selection, and the exchange of selections in Co-teaching (+)."""

import math
from typing import Any

import torch
from torch import Tensor

from skpresto._training.policy import Batch, RunningFraction, Selection, SelectionPolicy


def forget_rate(
    epoch: int, noise_rate: float, ramp_epochs: int, exponent: float = 1.0
) -> float:
    """Return the fraction of a batch to leave out.

    It increases from the first epoch on and reaches the noise rate after
    ``ramp_epochs``: ``noise_rate * min((epoch + 1) ** exponent / ramp_epochs, 1)``,
    which is 1 - R(T) of Co-teaching with T = ``epoch`` + 1.

    Parameters
    ----------
    epoch : int
        Number of epochs completed.
    noise_rate : float
        Fraction of wrong labels.
    ramp_epochs : int
        Epochs until that fraction is left out, T_k in the paper.
    exponent : float, default=1.0
        c in the paper; above 1, more is left out in early epochs.

    Examples
    --------
    >>> [round(forget_rate(epoch, 0.4, ramp_epochs=4), 2) for epoch in range(6)]
    [0.1, 0.2, 0.3, 0.4, 0.4, 0.4]
    """
    return noise_rate * min((epoch + 1) ** exponent / ramp_epochs, 1.0)


def n_kept(n_samples: int, rate: float) -> int:
    """Return how many of ``n_samples`` remain when a fraction ``rate`` is left out.

    Rounded down, as in the official code of Co-teaching, but at least one.

    Examples
    --------
    >>> n_kept(128, 0.4), n_kept(10, 0.9), n_kept(3, 0.9)
    (76, 1, 1)
    """
    # Without the small offset, (1 - 0.9) * 10 would be 0.99... and round down to 0.
    return max(1, math.floor((1 - rate) * n_samples + 1e-9))


def is_small_loss(losses: Tensor, n_smallest: int | Tensor) -> Tensor:
    """Return which losses are among the smallest of their row.

    Ties are broken by position: the first in the batch counts as smaller.

    Parameters
    ----------
    losses : Tensor of shape (k, b)
        One row per network.
    n_smallest : int or Tensor of shape ()
        Number to select in each row. A tensor avoids waiting for the device.

    Examples
    --------
    >>> import torch
    >>> is_small_loss(torch.tensor([[0.3, 0.1, 0.3, 0.2]]), 3).tolist()
    [[True, True, False, True]]
    """
    return losses.argsort(dim=1, stable=True).argsort(dim=1) < n_smallest


class ExchangeSmallLoss(SelectionPolicy):
    """Train each network on the samples with a small loss for the other network.

    Attributes
    ----------
    is_selected : Tensor of shape (n_samples,), dtype=bool
        Whether a network selected the sample at its last visit.
    """

    def __init__(
        self,
        n_samples: int,
        noise_rate: float,
        ramp_epochs: int,
        exponent: float = 1.0,
        device: str = "cpu",
    ) -> None:
        self.noise_rate = noise_rate
        self.ramp_epochs = max(1, ramp_epochs)
        self.exponent = exponent
        self.is_selected = torch.zeros(n_samples, dtype=torch.bool, device=device)

    def select(self, batch: Batch) -> Selection:
        """Return for each network the selection of the other one."""
        return self._exchange(batch, self._small_losses(batch.losses, batch.epoch))

    def _small_losses(self, losses: Tensor, epoch: int) -> Tensor:
        rate = forget_rate(epoch, self.noise_rate, self.ramp_epochs, self.exponent)
        return is_small_loss(losses, n_kept(losses.shape[1], rate))

    def _exchange(self, batch: Batch, is_chosen: Tensor) -> Selection:
        self.is_selected.index_copy_(0, batch.index, is_chosen.any(dim=0))
        return Selection(weights=is_chosen.flip(0).to(batch.losses.dtype))


class ExchangeSmallLossOnDisagreement(ExchangeSmallLoss):
    """After a warm-up, exchange only samples on which the two networks disagree."""

    def __init__(self, *args: Any, warm_up: int, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.warm_up = warm_up
        self._disagreed = RunningFraction()

    def select(self, batch: Batch) -> Selection:
        """Return the selection of the other network; nothing if both always agree."""
        predicted = batch.logits.argmax(dim=2)
        disagree = predicted[0] != predicted[1]
        self._disagreed.add(disagree)
        if batch.epoch < self.warm_up:
            return super().select(batch)
        is_chosen = torch.zeros_like(batch.losses, dtype=torch.bool)
        if disagree.any():
            among = batch.losses[:, disagree]
            is_chosen[:, disagree] = self._small_losses(among, batch.epoch)
        return self._exchange(batch, is_chosen)

    def epoch_summary(self) -> dict[str, float]:
        """Return the fraction of samples on which the networks disagreed."""
        return {"disagreement_fraction": self._disagreed.take()}
