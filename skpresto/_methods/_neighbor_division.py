"""Which labels are replaced by predictions, and which ones neighbors confirm."""

from dataclasses import dataclass

import torch
from torch import Tensor

from skpresto._data.training_data import PredictionRows
from skpresto._label_quality.neighbors import neighbor_votes
from skpresto._networks.activations import activations_and_logits
from skpresto._networks.forward import require_predictions
from skpresto._training.trainer import Trainer


@dataclass(frozen=True)
class NeighborDivision:
    """Divide samples by the labels of their neighbors, after some were replaced.

    Parameters
    ----------
    relabel_threshold, select_threshold : float
        As in :class:`~skpresto.baselines.SSRClassifier`.
    n_neighbors : int
        Number of neighbors that vote; at most half of the mean number of samples per
        class, since of few samples so many would be of other classes.
    n_references : int or None
        Largest number of samples among which they are searched. As many are drawn of
        more samples, and proportionately fewer vote.
    """

    relabel_threshold: float
    select_threshold: float
    n_neighbors: int
    n_references: int | None = None

    def __call__(
        self, given: Tensor, features: Tensor, logits: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Return the labels to learn, and which samples are clean.

        Parameters
        ----------
        given : Tensor of shape (n_samples,)
            Given labels.
        features : Tensor of shape (n_samples, d)
            Representation of the samples.
        logits : Tensor of shape (n_samples, n_classes)
            Outputs of the network.
        """
        n_classes = logits.shape[1]
        confidence, predicted = torch.softmax(logits, dim=1).max(dim=1)
        labels = torch.where(confidence > self.relabel_threshold, predicted, given)
        n_neighbors, searched = self._searched(len(given), n_classes)
        searched = searched.to(given.device)
        votes = neighbor_votes(
            features, features[searched], labels[searched], n_classes, n_neighbors
        )
        # No neighbor has the label of no sample.
        votes /= labels.bincount(minlength=n_classes).clamp(min=1)
        own = votes.gather(1, labels.unsqueeze(1)).squeeze(1)
        return labels, own >= self.select_threshold * votes.amax(dim=1)

    def _searched(self, n_samples: int, n_classes: int) -> tuple[int, Tensor]:
        """Return how many neighbors vote, and among which samples they are."""
        n_neighbors = min(self.n_neighbors, n_samples // (2 * n_classes))
        n_searched = self.n_references or n_samples
        if n_samples <= n_searched:
            return max(1, n_neighbors), torch.arange(n_samples)
        n_neighbors = max(1, n_neighbors * n_searched // n_samples)
        return n_neighbors, torch.randperm(n_samples)[:n_searched]


def balancing_weights(labels: Tensor, is_chosen: Tensor) -> Tensor:
    """Return weights by which all classes have the same weight among chosen samples.

    They are 1 on average.

    Examples
    --------
    >>> is_chosen = torch.tensor([True, True, True, False])
    >>> balancing_weights(torch.tensor([0, 0, 1, 1]), is_chosen).tolist()
    [0.75, 0.75, 1.5, 1.5]
    """
    counts = labels[is_chosen].bincount(minlength=int(labels.max()) + 1)
    n_present = (counts > 0).sum().clamp(min=1)
    return (counts.sum() / (n_present * counts.clamp(min=1)))[labels]


def represented(trainer: Trainer) -> tuple[Tensor, Tensor, Tensor]:
    """Return the positions of all samples with a weight, activations and logits."""
    trainer.check_networks()
    rows = trainer.data.rows_with_weight
    features, logits = activations_and_logits(
        trainer.net, PredictionRows(trainer.data.X, rows)
    )
    require_predictions(~logits.isfinite().all(dim=1))
    index = torch.arange(len(logits)) if rows is None else rows
    return index.to(logits.device), features, logits
