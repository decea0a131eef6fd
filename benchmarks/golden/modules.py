"""Networks and samples as a user would write them."""

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import Dataset


class UserModule(nn.Sequential):
    """A network with BatchNorm and dropout."""

    def __init__(self, n_features: int, n_classes: int) -> None:
        hidden = nn.Linear(n_features, 24), nn.BatchNorm1d(24), nn.ReLU()
        super().__init__(*hidden, nn.Dropout(0.2), nn.Linear(24, n_classes))


class Plain(nn.Sequential):
    """A network in which rows of a batch do not mix, and nothing is drawn."""

    def __init__(self, n_features: int, n_classes: int) -> None:
        hidden = nn.Linear(n_features, 24), nn.ReLU()
        super().__init__(*hidden, nn.Linear(24, n_classes))


class TwoInputs(nn.Module):
    """A network for samples in two parts."""

    def __init__(self, n_classes: int) -> None:
        super().__init__()
        self.layers = Plain(64, n_classes)

    def forward(self, left: Tensor, right: Tensor) -> Tensor:
        """Return logits."""
        return self.layers(torch.cat((left, right), dim=1))


def pretrained() -> nn.Module:
    """Return a network with weights, of which the first layer is not trained."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(5)
        network = UserModule(64, 10)
    network[0].requires_grad_(False)
    return network


class Words(Dataset):
    """Sequences of different length, with a label of which some are wrong."""

    def __init__(self, n_samples: int, seed: int) -> None:
        rng = np.random.RandomState(seed)
        self.labels = rng.randint(3, size=n_samples)
        lengths = rng.randint(2, 10, n_samples)
        self.words = [
            torch.from_numpy(rng.randint(5, size=length) + 1 + 3 * label)
            for length, label in zip(lengths, self.labels, strict=True)
        ]
        if seed == 0:
            self.labels = (self.labels + (rng.uniform(size=n_samples) < 0.25)) % 3

    def __len__(self) -> int:
        return len(self.labels)

    def __getitem__(self, row: int) -> tuple[Tensor, int]:
        return self.words[row], int(self.labels[row])


def pad(pairs: list) -> tuple[Tensor, Tensor]:
    """Return a padded batch and its labels."""
    words, labels = zip(*pairs, strict=True)
    return pad_sequence(list(words), batch_first=True), torch.as_tensor(labels)


class MeanWord(nn.Module):
    """Average the embeddings of the words."""

    def __init__(self, n_classes: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(12, 6, padding_idx=0)
        self.last = nn.Linear(6, n_classes)

    def forward(self, words: Tensor) -> Tensor:
        """Return logits."""
        n_words = (words > 0).sum(dim=1, keepdim=True)
        return self.last(self.embedding(words).sum(dim=1) / n_words)
