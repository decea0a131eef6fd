"""What is run in each process, and in one process alone to compare with."""

import hashlib
import io
import os
import pickle
import runpy
import warnings
from contextlib import nullcontext, redirect_stdout
from dataclasses import asdict

import numpy as np
import torch
import torch.distributed as dist
from sklearn.datasets import make_blobs
from torch import nn

import skpresto
from skpresto import baselines
from tests.discovery import quick


def noisy_blobs(n_samples=150):
    """Four classes, 30 % of the labels moved to the next one."""
    X, y = make_blobs(n_samples=n_samples, centers=4, cluster_std=0.9, random_state=0)
    is_wrong = np.random.RandomState(0).uniform(size=len(y)) < 0.3
    return X.astype(np.float32), np.where(is_wrong, (y + 1) % 4, y)


class Double(nn.Sequential):
    """A network in double precision, in which the rows of a batch do not mix."""

    def __init__(self, n_features, n_classes):
        hidden = nn.Linear(n_features, 12), nn.Tanh()
        super().__init__(*hidden, nn.Linear(12, n_classes))
        self.double()
        # Outputs of networks in double precision alone are rounded to float32.
        self.marker = nn.Parameter(torch.zeros(1))

    def forward(self, X):
        return super().forward(X.double())


class Mixing(nn.Sequential):
    """A network with BatchNorm and dropout."""

    def __init__(self, n_features, n_classes):
        super().__init__(
            nn.Linear(n_features, 12),
            nn.BatchNorm1d(12),
            nn.ReLU(),
            nn.Dropout(0.3),
            nn.Linear(12, n_classes),
        )


def quick_with(name, module, **params):
    """Return a quick classifier; batches of 37 rows are not divisible by 2 or 3."""
    settings = {"max_epochs": 6, "batch_size": 37, "q": 3}
    home = skpresto if hasattr(skpresto, name) else baselines
    clf = quick(getattr(home, name), **{**settings, **params})
    del clf.module__hidden
    return clf.set_params(module=module)


def block(is_parallel=True):
    return skpresto.data_parallel() if is_parallel else nullcontext()


def fitted(clf, X, y, is_parallel=True, **fit_params):
    """Fit, with the warnings of short trainings ignored."""
    with warnings.catch_warnings(), block(is_parallel):
        warnings.simplefilter("ignore")
        return clf.fit(X, y, **fit_params)


def numbers_of(clf):
    """Return all fitted numbers, without times."""
    state = clf.net_.module_.state_dict().items()
    records = [{**asdict(record), "seconds": 0.0} for record in clf.history_]
    attributes = {
        name: np.asarray(value)
        for name, value in vars(clf).items()
        if name.endswith("_") and isinstance(value, (np.ndarray, int, float))
    }
    return {
        **{f"weights {name}": value.numpy() for name, value in state},
        **attributes,
        "records": np.concatenate([_numbers(record) for record in records]),
        "train losses": np.array(clf.net_.history[:, "train_loss"]),
    }


def _numbers(record):
    return np.array([v for v in record.values() if isinstance(v, (int, float))], float)


def message_of_refusal(name):
    """Return the error of a method that cannot be used on several processes."""
    X, y = noisy_blobs()
    try:
        fitted(quick_with(name, Double), X, y, X_val=X, y_val=y)
    except ValueError as error:
        return str(error)


def digest_of(clf, X):
    """Return a digest of everything that a fit computed, times included."""
    hasher = hashlib.blake2b(digest_size=16)
    for name, value in numbers_of(clf).items():
        hasher.update(name.encode() + value.tobytes())
    hasher.update(repr([asdict(record) for record in clf.history_]).encode())
    hasher.update(clf.predict_proba(X).tobytes())
    return hasher.hexdigest()


def fit_alike(name, is_parallel, further, is_weighted=False, has_labels=True):
    """Fit in double precision, for comparison with one process."""
    X, y = noisy_blobs()
    if not has_labels:
        y = np.random.RandomState(2).randint(10, size=len(y))
    if is_weighted:
        weights = np.random.RandomState(1).randint(3, size=len(y)).astype(float)
        further = {**further, "class_weight": "balanced"}
        given = {"sample_weight": weights, "X_val": X[:41], "y_val": y[:41]}
    else:
        given = {}
    clf = quick_with(name, Double, **further)
    return numbers_of(fitted(clf, X, y, is_parallel, **given))


def fit_mixing(name):
    """Fit without a seed a network with BatchNorm and dropout; return a digest."""
    X, y = noisy_blobs()
    np.random.seed(dist.get_rank())
    torch.manual_seed(dist.get_rank())
    clf = fitted(quick_with(name, Mixing, random_state=None), X, y)
    return digest_of(clf, X)


def predict_and_store_in_first():
    """Use the result in the first process only, still inside the block."""
    X, y = noisy_blobs()
    clf = quick_with("PrestoppingClassifier", Mixing)
    with warnings.catch_warnings(), skpresto.data_parallel():
        warnings.simplefilter("ignore")
        clf.fit(X, y)
        if dist.get_rank() == 0:
            clf.predict(X)
            clf.score(X, y)
            return pickle.dumps(clf)
    return None


def run_example(path, folder):
    """Run a program that begins and ends with the group of processes."""
    begin, end = dist.init_process_group, dist.destroy_process_group
    dist.init_process_group = dist.destroy_process_group = lambda *args: None
    here, shown = os.getcwd(), io.StringIO()
    os.chdir(folder)
    try:
        with redirect_stdout(shown):
            runpy.run_path(path, run_name="__main__")
    finally:
        os.chdir(here)
        dist.init_process_group, dist.destroy_process_group = begin, end
    return shown.getvalue()
