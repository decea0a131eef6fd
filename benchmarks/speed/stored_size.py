"""Measure the pickle of a fitted classifier in multiples of its weights.

python benchmarks/speed/stored_size.py 50000000     # parameters of the network
"""

import pickle
import sys
import warnings

import numpy as np
import torch
from torch import nn

from skpresto import CoTeachingClassifier, DefaultClassifier, PrestoppingClassifier


class Wide(nn.Module):
    """Two layers, the second of which has nearly all parameters."""

    def __init__(self, n_features, n_classes, width):
        super().__init__()
        self.first = nn.Linear(n_features, width)
        self.second = nn.Linear(width, width)
        self.last = nn.Linear(width, n_classes)

    def forward(self, X):
        """Return logits."""
        return self.last(torch.relu(self.second(torch.relu(self.first(X)))))


def main(n_parameters):
    warnings.simplefilter("ignore")
    X = np.random.RandomState(0).normal(size=(64, 20)).astype(np.float32)
    y = (X[:, 0] > 0).astype(int)
    settings = {"max_epochs": 2, "batch_size": 32, "lr": 0.01, "random_state": 0}
    for clf in (
        DefaultClassifier(),
        PrestoppingClassifier(),
        CoTeachingClassifier(noise_rate=0.2),
    ):
        width = int(n_parameters**0.5)
        clf.set_params(module=Wide, module__width=width, **settings).fit(X, y)
        state = clf.net_.module_.state_dict().values()
        n_bytes = sum(part.nbytes for part in state)
        ratio = len(pickle.dumps(clf)) / n_bytes
        name = type(clf).__name__
        print(f"{name}: weights {n_bytes / 1e6:.0f} MB, pickle {ratio:.2f} times that")


if __name__ == "__main__":
    main(int(sys.argv[1]))
