"""Networks and samples as a user would write them."""

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import StackDataset


class Plain(nn.Sequential):
    """A network in which rows of a batch do not mix, and nothing is drawn."""

    def __init__(self, n_features: int, n_classes: int) -> None:
        hidden = nn.Linear(n_features, 24), nn.ReLU()
        super().__init__(*hidden, nn.Linear(24, n_classes))


class Mixing(nn.Sequential):
    """A network with BatchNorm and dropout."""

    def __init__(self, n_features: int, n_classes: int) -> None:
        hidden = nn.Linear(n_features, 24), nn.BatchNorm1d(24), nn.ReLU()
        super().__init__(*hidden, nn.Dropout(0.2), nn.Linear(24, n_classes))


class TwoInputs(Plain):
    """A network for samples in two parts."""

    def forward(self, left: Tensor, right: Tensor) -> Tensor:
        """Return logits."""
        return super().forward(torch.cat((left, right), dim=1))


class MeanWord(nn.Sequential):
    """A network for sequences of words, padded with zeros."""

    def __init__(self, n_classes: int) -> None:
        words = nn.EmbeddingBag(12, 6, padding_idx=0)
        super().__init__(words, nn.Linear(6, n_classes))


def pretrained() -> nn.Module:
    """Return a network with weights, of which the first layer is not trained."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(5)
        network = Mixing(64, 10)
    network[0].requires_grad_(False)
    return network


def sequences(n_samples: int, noise_rate: float) -> StackDataset:
    """Return sequences of words of different length, with labels."""
    rng = np.random.RandomState(n_samples)
    labels = torch.from_numpy(rng.randint(3, size=n_samples))
    words = [
        label + 1 + torch.from_numpy(rng.randint(5, size=rng.randint(2, 10)))
        for label in 3 * labels
    ]
    is_wrong = torch.from_numpy(rng.uniform(size=n_samples) < noise_rate)
    return StackDataset(words, (labels + is_wrong) % 3)


def pad(pairs: list) -> tuple[Tensor, Tensor]:
    """Return a padded batch and its labels."""
    words, labels = zip(*pairs, strict=True)
    return pad_sequence(list(words), batch_first=True), torch.stack(labels)
