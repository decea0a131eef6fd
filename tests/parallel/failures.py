"""What goes wrong in one of several processes, or in all."""

import gc
import os
import time
import warnings
from pathlib import Path

import numpy as np
import torch
import torch.distributed as dist
from joblib import parallel_config
from sklearn.model_selection import GridSearchCV
from skorch.callbacks import Callback
from torch import nn
from torch.utils.data import WeightedRandomSampler

import skpresto
from skpresto._parallel.exchange import Exchange
from skpresto._resume import fingerprint
from skpresto._training.context import current_context
from tests.parallel.cases import (
    Double,
    Mixing,
    block,
    digest_of,
    fitted,
    noisy_blobs,
    numbers_of,
    quick_with,
)
from tests.parallel.inputs import Items


def _is_last():
    return dist.get_rank() == dist.get_world_size() - 1


def fit_one_epoch():
    X, y = noisy_blobs(40)
    clf = quick_with("DefaultClassifier", Double, max_epochs=1)
    return digest_of(fitted(clf, X, y), X)


def fit_different(what):
    """Fit with something else in the last process."""
    X, y = noisy_blobs(60)
    params, version = {}, fingerprint.version
    if _is_last():
        if what == "X":
            X = X + 1
        elif what == "y":
            y = y[::-1].copy()
        elif what == "length":
            X, y = X[:-1], y[:-1]
        elif what == "lr":
            params["lr"] = 0.2
        elif what == "version":
            fingerprint.version = lambda name: (
                "0.0" if name == "torch" else version(name)
            )
    try:
        fitted(quick_with("DefaultClassifier", Double, **params), X, y)
    finally:
        fingerprint.version = version


class FailingItems(Items):
    def __getitem__(self, row):
        if _is_last() and self.n_read > 150:
            raise OSError("the disk is gone")
        return super().__getitem__(row)


class FailAtEnd(Callback):
    def on_epoch_end(self, net, **kwargs):
        if _is_last() and len(net.history) == 2:
            raise KeyError("what a callback did")


class Interrupt(Callback):
    def on_epoch_end(self, net, **kwargs):
        if _is_last() and len(net.history) == 2:
            raise KeyboardInterrupt


class _FailBackward(torch.autograd.Function):
    @staticmethod
    def forward(ctx, outputs):
        return outputs.clone()

    @staticmethod
    def backward(ctx, gradient):
        if _is_last():
            raise MemoryError("no memory for gradients")
        return gradient


class FailingModule(Double):
    def forward(self, X):
        outputs = super().forward(X)
        return _FailBackward.apply(outputs) if self.training else outputs


class SparseModule(nn.Module):
    def __init__(self, n_classes):
        super().__init__()
        self.table = nn.Embedding(10, n_classes, sparse=True)

    def forward(self, X):
        return self.table(X[:, 0].abs().long().clamp(max=9))


class Drift(Callback):
    """Change weights in one process only."""

    def on_batch_end(self, net, **kwargs):
        if _is_last():
            next(net.module_.parameters()).data += 1e-3


#: Parameters with which the last process fails, or all of them.
FAILING = {
    "callback": {"callbacks": [FailAtEnd()]},
    "Ctrl-C": {"callbacks": [Interrupt()]},
    "drift": {"callbacks": [Drift()]},
    "backward": {"module": FailingModule},
    "sparse": {"module": SparseModule, "optimizer__momentum": 0},
}


def fit_failing(what):
    """Let the last process fail, in one of many places."""
    X, y = noisy_blobs(80)
    given = FailingItems(X, y) if what == "item" else X
    if what == "all" or (what == "labels" and _is_last()):
        y = y * 0
    params = {"max_epochs": 4, "batch_size": 40, "module": Double}
    params |= FAILING.get(what, {})
    if what == "parameter" and _is_last():
        params["max_epochs"] = -1
    clf = quick_with("DefaultClassifier", **params)
    with skpresto.keep_interrupted():
        fitted(clf, given, y)


def fail_before_fit():
    X, y = noisy_blobs(60)
    with skpresto.data_parallel():
        if _is_last():
            raise FileNotFoundError("no images here")
        quick_with("DefaultClassifier", Double).fit(X, y)


class Die(Callback):
    """End the process of rank 1, and write down when."""

    def __init__(self, file):
        self.file = file

    def on_epoch_end(self, net, **kwargs):
        if dist.get_rank() == 1 and len(net.history) == 2:
            Path(self.file).write_text(str(time.time()))
            os._exit(9)


def fit_and_die(file):
    X, y = noisy_blobs(60)
    fitted(quick_with("DefaultClassifier", Double, callbacks=[Die(file)]), X, y)


def fit_with_sampler():
    X, y = noisy_blobs(60)
    sampler = WeightedRandomSampler(np.ones(60), 60)
    params = {"iterator_train__sampler": sampler}
    fitted(quick_with("DefaultClassifier", Double, **params), X, y)


def fit_small_batches(batch_size):
    X, y = noisy_blobs(60)
    fitted(quick_with("DefaultClassifier", Double, batch_size=batch_size), X, y)


def nested_blocks():
    with skpresto.data_parallel(), skpresto.data_parallel():
        pass


def fit_in_part():
    """Fit in a group of the first two processes, and in one of the last alone."""
    X, y = noisy_blobs(60)
    two, one = dist.new_group([0, 1]), dist.new_group([2])
    clf = quick_with("DefaultClassifier", Mixing)
    with warnings.catch_warnings(), skpresto.data_parallel(one if _is_last() else two):
        warnings.simplefilter("ignore")
        clf.fit(X, y)
    try:
        with skpresto.data_parallel(two):
            return numbers_of(clf), "entered"
    except ValueError as error:
        return numbers_of(clf), str(error)


def groups_still_held():
    """Return how many groups are referred to after a block, before any collection."""
    X, y = noisy_blobs(40)
    gc.collect()
    gc.disable()
    try:
        fitted(quick_with("DefaultClassifier", Double, max_epochs=1), X, y)
        exchanges = [part for part in gc.get_objects() if isinstance(part, Exchange)]
        return sum(exchange.group is not None for exchange in exchanges)
    finally:
        gc.enable()


def team_of_a_fork():
    """Return whether a forked process inside the block is alone."""
    with skpresto.data_parallel():
        assert not current_context().team.is_alone
        child = os.fork()
        if child == 0:
            os._exit(0 if current_context().team.is_alone else 1)
        return os.waitpid(child, 0)[1] == 0


def search(backend):
    """Search in workers inside the block; the refit is shared."""
    X, y = noisy_blobs(60)
    clf = quick_with("DefaultClassifier", None, max_epochs=2, module__hidden=(4,))
    grid = GridSearchCV(clf, {"lr": [0.01, 0.1]}, cv=2, n_jobs=2)
    with warnings.catch_warnings(), block():
        warnings.simplefilter("ignore")
        with parallel_config(backend):
            grid.fit(X, y)
    return grid.cv_results_["mean_test_score"].tolist(), grid.best_params_
