"""Small losses: how many of a batch are kept, and which."""

import math

from torch import Tensor


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
