"""ITLM: learn from the samples with the smallest losses of the round before."""

import torch
from torch import Tensor

from skpresto._selection.small_loss import is_small_loss, n_kept
from skpresto._training.policy import LearnFromSubset


class LearnFromTrimmedSet(LearnFromSubset):
    """Learn from a set of samples that is chosen anew between rounds of training.

    Parameters
    ----------
    is_candidate : Tensor of shape (n_samples,), dtype=bool
        Samples that may be chosen: those with a weight. All of them are learned in the
        first round.
    """

    def __init__(self, is_candidate: Tensor) -> None:
        super().__init__(is_candidate)
        self.is_candidate = is_candidate

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
        self.is_learned = is_small_loss(among, n_kept(n_candidates, noise_rate))[0]
