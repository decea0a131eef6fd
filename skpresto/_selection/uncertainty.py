"""Active Bias: sample weights from the variance of the predicted probabilities."""

import torch
from torch import Tensor

from skpresto._training.policy import Batch, Selection, SelectionPolicy


class EmphasizeUncertain(SelectionPolicy):
    """Weight a sample by how much the probability of its given label has varied.

    Mean and variance over all visits are computed by Welford's online algorithm, so
    three numbers per sample are stored.

    Parameters
    ----------
    n_samples : int
        Number of training samples.
    smoothness : float
        Added to every weight.
    warm_up : int
        Number of epochs with equal weights.
    device : str or torch.device, default="cpu"
        Where the statistics are stored.
    """

    may_select_nothing = False

    def __init__(
        self, n_samples: int, smoothness: float, warm_up: int, device: str = "cpu"
    ) -> None:
        self.smoothness = smoothness
        self.warm_up = warm_up
        self._n_visits = torch.zeros(n_samples, device=device)
        self._mean = torch.zeros(n_samples, device=device)
        self._squares = torch.zeros(n_samples, device=device)

    def select(self, batch: Batch) -> Selection:
        """Return all samples, weighted by their visits before this one."""
        weights = self._weights(batch)
        self._record(batch)
        if batch.epoch < self.warm_up:
            return Selection()
        return Selection(weights=weights.to(batch.losses.dtype).unsqueeze(0))

    def _weights(self, batch: Batch) -> Tensor:
        n_visits = self._n_visits[batch.index]
        variance = self._squares[batch.index] / n_visits.clamp(min=1)
        # The second term is the variance of the variance estimate. With fewer than two
        # visits the variance is zero, and the weight is the smoothness alone.
        spread = (variance + variance**2 / (n_visits - 1).clamp(min=1)).sqrt()
        return spread + self.smoothness

    def _record(self, batch: Batch) -> None:
        probabilities = torch.softmax(batch.logits[0], dim=1)
        given = probabilities.gather(1, batch.labels.unsqueeze(1)).squeeze(1).float()
        n_visits = self._n_visits[batch.index] + 1
        mean = self._mean[batch.index]
        new_mean = mean + (given - mean) / n_visits
        self._squares[batch.index] += (given - mean) * (given - new_mean)
        self._mean[batch.index] = new_mean
        self._n_visits[batch.index] = n_visits
