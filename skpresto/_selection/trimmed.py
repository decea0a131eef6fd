"""ITLM: learn from the samples with the smallest losses of the round before."""

import torch
from torch import Tensor

from skpresto._selection.base import Batch, Selection, SelectionPolicy
from skpresto._selection.small_loss import is_small_loss, n_kept


class LearnFromTrimmedSet(SelectionPolicy):
    """Learn from a set of samples that is chosen anew between rounds of training.

    Parameters
    ----------
    is_candidate : Tensor of shape (n_samples,), dtype=bool
        Samples that may be chosen: those with a weight. All of them are learned in the
        first round.

    Attributes
    ----------
    is_kept : Tensor of shape (n_samples,), dtype=bool
        The samples that are learned in the present round.
    """

    def __init__(self, is_candidate: Tensor) -> None:
        self.is_candidate = is_candidate
        self.is_kept = is_candidate.clone()

    def trim(self, losses: Tensor, noise_rate: float) -> None:
        """Keep the smallest losses, as many as labels are expected to be correct.

        Parameters
        ----------
        losses : Tensor of shape (n_samples,)
            Loss of each sample for the network of the round before.
        noise_rate : float
            Fraction of wrong labels, 1 - alpha in the paper. Of N samples,
            floor(alpha * N) are kept, at least one.
        """
        n_candidates = int(self.is_candidate.sum())
        among = losses.masked_fill(~self.is_candidate, torch.inf).unsqueeze(0)
        self.is_kept = is_small_loss(among, n_kept(n_candidates, noise_rate))[0]

    def select(self, batch: Batch) -> Selection:
        """Return the samples of the batch that are kept."""
        is_kept = self.is_kept.index_select(0, batch.index)
        return Selection(weights=is_kept.to(batch.losses.dtype).unsqueeze(0))
