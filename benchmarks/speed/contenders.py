"""The training loops and libraries that skpresto is compared with, and the data."""

import math

import internals
import numpy as np
import torch
from skorch import NeuralNetClassifier
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from skpresto.noise import SymmetricNoise

N_CLASSES = 10
BATCH_SIZE = 128
Q = 10
STEP = {"lr": 0.05, "momentum": 0.9}


class SmallMLP(nn.Sequential):
    """One hidden layer of 64 units: small, so that overhead per batch is visible."""

    def __init__(self, n_features=32):
        super().__init__(nn.Linear(n_features, 64), nn.ReLU(), nn.Linear(64, N_CLASSES))


class SmallConvNet(nn.Sequential):
    """Two convolutions for images of 28 x 28."""

    def __init__(self):
        super().__init__(
            *(nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2)),
            *(nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2)),
            *(nn.Flatten(), nn.Linear(32 * 7 * 7, N_CLASSES)),
        )


def table(n_samples, n_features=32):
    """Return a table and labels that depend on it, with 40 % symmetric noise."""
    rng = np.random.RandomState(0)
    X = rng.normal(size=(n_samples, n_features)).astype(np.float32)
    y = (X @ rng.normal(size=(n_features, N_CLASSES))).argmax(axis=1)
    return X, SymmetricNoise(0.4, random_state=np.random.RandomState(0)).fit_transform(
        y
    )


def images(n_samples, shape=(1, 28, 28)):
    """Return images with noisy labels."""
    X, y = table(n_samples, math.prod(shape))
    return X.reshape(-1, *shape), y


class TightLoop:
    """A hand-written PyTorch loop over tensors in memory."""

    def __init__(self, module, X, y, **optimizer):
        self.X, self.y = torch.from_numpy(X), torch.from_numpy(y)
        self.module = module()
        self.optimizer = torch.optim.SGD(self.module.parameters(), **STEP, **optimizer)
        self.criterion = nn.CrossEntropyLoss()

    def batches(self):
        """Yield the batches of an epoch."""
        for index in torch.randperm(len(self.X)).split(BATCH_SIZE):
            yield self.X[index], self.y[index]

    def epoch(self):
        """Train for one epoch."""
        self.module.train()
        for X, y in self.batches():
            self.optimizer.zero_grad()
            self.criterion(self.module(X), y).backward()
            self.optimizer.step()


class LoaderLoop(TightLoop):
    """The same loop with a ``DataLoader`` over a ``TensorDataset``."""

    def batches(self):
        """Return the batches of an epoch."""
        dataset = TensorDataset(self.X, self.y)
        return DataLoader(dataset, batch_size=BATCH_SIZE, shuffle=True)


def trainer(module, X, y, **params):
    """Return skpresto's Trainer with the same recipe."""
    recipe = {"batch_size": BATCH_SIZE, "lr": STEP["lr"], **params}
    return internals.trainer(module, X, y, Q, **recipe)


def plain_skorch(module, max_epochs):
    """Return a skorch net with skorch's defaults except for the validation split."""
    return NeuralNetClassifier(
        module,
        criterion=nn.CrossEntropyLoss,
        optimizer=torch.optim.SGD,
        optimizer__momentum=STEP["momentum"],
        lr=STEP["lr"],
        max_epochs=max_epochs,
        batch_size=BATCH_SIZE,
        iterator_train__shuffle=True,
        train_split=None,
        verbose=0,
    )
