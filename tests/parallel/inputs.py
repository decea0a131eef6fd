"""Samples of all kinds, read by several processes."""

import os

import numpy as np
import torch
from scipy import sparse
from skorch.callbacks import Callback, EpochScoring, LRScheduler
from torch import nn
from torch.utils.data import Dataset

from tests.parallel.cases import (
    Double,
    Mixing,
    digest_of,
    fitted,
    noisy_blobs,
    numbers_of,
    quick_with,
)


class Items(Dataset):
    """Items that are counted, maybe with random changes."""

    def __init__(self, X, y, noise=0.0):
        self.X, self.y, self.noise = X, y, noise
        self.n_read = 0

    def __len__(self):
        return len(self.X)

    def __getitem__(self, row):
        self.n_read += 1
        features = torch.from_numpy(self.X[row])
        if self.noise:
            features = features + self.noise * torch.randn(2)
        return features, self.y[row]


class TwoInputs(Double):
    """A network with two inputs."""

    def __init__(self, n_classes):
        super().__init__(2, n_classes)

    def forward(self, left, right):
        return super().forward(torch.cat((left, right), dim=1))


def collated(pairs):
    features, labels = zip(*pairs, strict=True)
    return torch.stack(features), torch.as_tensor(labels)


def fit_kind(kind, folder, is_parallel=True):
    """Fit to samples of a kind, in double precision."""
    X, y = noisy_blobs(100)
    module, params = Double, {"max_epochs": 4, "batch_size": 27}
    if kind == "memory map":
        # A file of its own: one that is written again under a map kills its reader.
        path = f"{folder}/{os.getpid()}.npy"
        np.save(path, X)
        given = np.load(path, mmap_mode="r")
    elif kind == "sparse":
        given = sparse.csr_matrix(X)
    elif kind == "two inputs":
        module, given = TwoInputs, {"left": X[:, :1], "right": X[:, 1:]}
    else:
        given = Items(X, y)
        y = None
        if kind == "workers":
            params["max_epochs"], params["iterator_train__num_workers"] = 2, 1
            params["iterator_train__multiprocessing_context"] = "fork"
        if kind == "collated":
            params["iterator_train__collate_fn"] = collated
            params["iterator_valid__collate_fn"] = collated
            params["module__n_features"] = 2
    clf = quick_with("PrestoppingClassifier", module, **params)
    return numbers_of(fitted(clf, given, y, is_parallel))


def n_items_read(is_parallel=True):
    """Return how many items a process reads in an epoch without any holdout."""
    X, y = noisy_blobs(100)
    counts = []
    for max_epochs in (2, 5):
        items = Items(X, y)
        clf = quick_with("DefaultClassifier", Double, max_epochs=max_epochs)
        fitted(clf, items, y, is_parallel)
        counts.append(items.n_read)
    return (counts[1] - counts[0]) / 3


def fit_random_items():
    """Fit to items with random changes, drawn in the process itself."""
    X, y = noisy_blobs(101)
    torch.manual_seed(torch.distributed.get_rank())
    clf = quick_with("PrestoppingClassifier", Mixing, random_state=None)
    return digest_of(fitted(clf, Items(X, y, noise=0.1), y), X)


def fit_few_rows(n_samples, module_name, is_dataset=False):
    """Fit to fewer rows than each process needs, with the last of them idle."""
    module = {"Double": Double, "Mixing": Mixing}[module_name]
    X, y = noisy_blobs(n_samples)
    y[:2] = 0, 1
    kinds = []
    for is_parallel in (True, False):
        clf = quick_with("DefaultClassifier", module, max_epochs=3)
        given = {"X": Items(X, y) if is_dataset else X, "y": y}
        fitted(clf, **given, is_parallel=is_parallel, X_val=X[:2], y_val=y[:2])
        kinds.append(numbers_of(clf))
    return kinds


def fit_images():
    """Fit the built-in network to images in reduced precision."""
    rng = np.random.RandomState(0)
    X, y = rng.normal(size=(24, 1, 8, 8)).astype(np.float32), np.arange(24) % 2
    params = {"autocast": "bfloat16", "batch_size": 12, "max_epochs": 2}
    clf = quick_with("DefaultClassifier", None, **params)
    return digest_of(fitted(clf, X, y), X)


class Watch(Callback):
    """Note what callbacks are given."""

    def __init__(self):
        self.seen = set()
        self.gradients = []

    def on_batch_end(self, net, batch, training, y_pred, **kwargs):
        if training:
            self.seen.add((len(batch[1]), len(y_pred), len(batch[0])))

    def on_grad_computed(self, net, named_parameters, **kwargs):
        self.gradients += [p.grad.sum().item() for _, p in named_parameters]


def fit_with_callbacks():
    """Fit with callbacks that watch batches, score, and lower the learning rate."""
    X, y = noisy_blobs(80)
    watch = Watch()
    callbacks = [
        watch,
        EpochScoring("accuracy", name="score"),
        LRScheduler("ReduceLROnPlateau", monitor="train_loss", patience=0),
    ]
    params = {"callbacks": callbacks, "batch_size": 40, "max_epochs": 3}
    clf = quick_with("DefaultClassifier", Mixing, **params)
    fitted(clf, X, y, X_val=X[:30], y_val=y[:30])
    scores = clf.net_.history[:, "score"]
    return watch.seen, watch.gradients, scores, digest_of(clf, X)


class OwnWeights(nn.Sequential):
    """A network whose weights come from numpy, other ones in every process."""

    def __init__(self, n_features, n_classes):
        super().__init__(nn.Linear(n_features, n_classes))
        weights = np.random.normal(size=(n_classes, n_features))
        self[0].weight.data = torch.from_numpy(weights).float()


def fit_own_weights():
    X, y = noisy_blobs(60)
    np.random.seed(torch.distributed.get_rank())
    clf = quick_with("DefaultClassifier", OwnWeights)
    return digest_of(fitted(clf, X, y), X)
