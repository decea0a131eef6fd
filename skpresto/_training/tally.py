"""Losses and selections of the batches of an epoch, transferred many at once."""

from itertools import groupby
from typing import NamedTuple

import torch
from torch import Tensor

# Batches whose losses are collected before they are averaged together.
_BATCHES_AT_ONCE = 64


class EpochSums(NamedTuple):
    """The sums of a :class:`Tally`.

    Parameters
    ----------
    losses : list of float or None
        Mean loss of each batch; None where nothing was selected.
    n_selected : int
        Samples selected, summed over the networks.
    n_skipped : int
        Batches in which nothing was selected.
    """

    losses: list[float | None]
    n_selected: int
    n_skipped: int


class Tally:
    """Collect losses and weights of each batch without waiting for the device."""

    def __init__(self) -> None:
        self._batches: list[tuple[Tensor, Tensor | None]] = []
        self._losses: list[Tensor] = []
        self._n_selected: list[Tensor] = []

    def add(self, losses: Tensor, weights: Tensor | None) -> None:
        """Add a batch.

        Parameters
        ----------
        losses : Tensor of shape (k, b)
            Losses of the samples for each network.
        weights : Tensor of shape (k, b), or None
            Weights of the samples; None means that all were selected.
        """
        if len(self._batches) == _BATCHES_AT_ONCE:
            self._average()
        self._batches.append((losses, weights))

    def last_loss(self) -> Tensor | None:
        """Return the mean loss of the last batch, None if nothing was selected."""
        losses, weights = self._batches[-1]
        single = None if weights is None else weights.unsqueeze(0)
        means, n_selected = mean_losses(losses.unsqueeze(0), single)
        return means[0] if n_selected[0] else None

    def sums(self) -> EpochSums:
        """Return the sums over all batches. Waits for the device."""
        self._average()
        n_selected = torch.cat(self._n_selected).tolist()
        losses = [
            loss if n else None
            for loss, n in zip(
                torch.cat(self._losses).tolist(), n_selected, strict=True
            )
        ]
        return EpochSums(losses, sum(n_selected), n_selected.count(0))

    def _average(self) -> None:
        """Reduce the collected batches to two numbers each."""
        for (_, is_plain), alike in groupby(self._batches, key=_kind):
            losses, weights = zip(*alike, strict=True)
            together = None if is_plain else torch.stack(weights)
            means, n_selected = mean_losses(torch.stack(losses), together)
            self._losses.append(means)
            self._n_selected.append(n_selected)
        self._batches.clear()


def _kind(batch: tuple[Tensor, Tensor | None]) -> tuple[torch.Size, bool]:
    losses, weights = batch
    return losses.shape, weights is None


def mean_losses(losses: Tensor, weights: Tensor | None) -> tuple[Tensor, Tensor]:
    """Return the mean loss of batches of one shape, and the number of samples.

    Parameters
    ----------
    losses : Tensor of shape (n_batches, k, b)
        Losses of the samples for each network. The mean losses of the networks are
        added up.
    weights : like losses, or None
        Weights of the samples. A batch in which all are zero has a loss of 0.

    Returns
    -------
    means : Tensor of shape (n_batches,)
        Mean losses.
    n_selected : Tensor of shape (n_batches,)
        Number of weights that are not 0.
    """
    if weights is None:
        sizes = torch.full((len(losses),), losses[0].numel(), device=losses.device)
        return losses.mean(dim=2).sum(dim=1), sizes
    totals = weights.sum(dim=2)
    means = (losses * weights).sum(dim=2) / totals.where(totals > 0, 1)
    return means.sum(dim=1), torch.count_nonzero(weights, dim=(1, 2))
