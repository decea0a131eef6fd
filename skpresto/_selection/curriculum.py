"""MentorNet's predefined curriculum: small losses first, by a moving threshold."""

import torch
from torch import Tensor

from skpresto._selection.small_loss import n_kept
from skpresto._training.policy import Batch, Selection, SelectionPolicy

#: Fraction of the training after which weights decrease linearly beyond the threshold.
_LINEAR_FROM = 0.9


class PredefinedCurriculum(SelectionPolicy):
    """Weight samples by their loss: all at first, then those below a threshold.

    The threshold is a moving average of a percentile of the losses of each batch.
    After the warm-up, samples with a larger loss are left out; in the last tenth of the
    epochs, their weight is ``1 - (loss - threshold)``, at least 0. Besides, some
    samples of each batch are dropped at random. The loss of a batch is the weighted sum
    divided by the number of its samples, whatever their weights.

    Parameters
    ----------
    n_samples, n_epochs : int
        Size of the training set, and length of the training.
    percentile : float in [0, 100]
        Percentile of the losses that the threshold follows.
    decay : float in [0, 1)
        Weight of earlier batches in the threshold.
    warm_up : int
        Number of epochs in which all samples have the same weight.
    dropout : pair of float in [0, 1)
        Fraction of samples to drop in the warm-up, and later.
    seed : int
        Of the samples that are dropped. They are not drawn from torch's random state,
        which differs between processes that train together.
    device : str or torch.device, default="cpu"
        Where the selection is stored.

    Attributes
    ----------
    threshold : Tensor of shape (), or None
        None before the first batch, whose percentile is the first threshold.
    is_easy : Tensor of shape (n_samples,), dtype=bool
        Whether the loss of the sample was below the threshold at its last visit.
    """

    def __init__(
        self,
        n_samples: int,
        n_epochs: int,
        *,
        percentile: float,
        decay: float,
        warm_up: int,
        dropout: tuple[float, float],
        seed: int,
        device: str = "cpu",
    ) -> None:
        self.percentile = percentile
        self.decay = decay
        self.warm_up = warm_up
        self.linear_from = round(_LINEAR_FROM * n_epochs)
        self.dropout = dropout
        self.seed = seed
        self._n_batches = 0
        self.threshold: Tensor | None = None
        self.is_easy = torch.zeros(n_samples, dtype=torch.bool, device=device)

    def select(self, batch: Batch) -> Selection:
        """Return the weights of the samples, and the loss divided by their number."""
        losses = batch.losses[0].float()
        level = torch.quantile(losses, self.percentile / 100)
        before = level if self.threshold is None else self.threshold
        self.threshold = self.decay * before + (1 - self.decay) * level
        excess = losses - self.threshold
        self.is_easy.index_copy_(0, batch.index, excess <= 0)
        is_warm_up = batch.epoch < self.warm_up
        weights = self._weights(excess, batch.epoch)
        weights = weights * self._is_kept(losses, self.dropout[not is_warm_up])
        scale = weights.mean()  # a step divides by the sum of the weights

        def objective(logits: Tensor, losses: Tensor) -> Tensor:
            return losses * scale.to(losses.dtype)

        return Selection(
            weights=weights.to(batch.losses.dtype).unsqueeze(0), objective=objective
        )

    def _weights(self, excess: Tensor, epoch: int) -> Tensor:
        if epoch < self.warm_up:
            return torch.ones_like(excess)
        if epoch < self.linear_from:
            return (excess <= 0).to(excess.dtype)
        return (1 - excess).clamp(0, 1)

    def _is_kept(self, losses: Tensor, rate: float) -> Tensor:
        """Return a random part of the batch."""
        self._n_batches += 1
        draws = torch.Generator().manual_seed(self.seed + self._n_batches)
        rank = torch.randperm(len(losses), generator=draws).to(losses.device)
        return rank < n_kept(len(losses), rate)
