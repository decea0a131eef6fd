"""Fits of several processes that are killed, and started again."""

import os
import warnings

import torch.distributed as dist

import skpresto
from skpresto._parallel.shared_journal import SharedJournal
from skpresto._parallel.shared_machinery import SharedMachinery
from tests.parallel.cases import Mixing, noisy_blobs, numbers_of, quick_with


def fit_until(name, folder, victim, n_epochs):
    """Fit in a folder; one process dies after some epochs, before or after a write."""
    X, y = noisy_blobs(100)
    clf = quick_with(name, Mixing, max_epochs=7)
    epochs = iter(range(1, n_epochs + 1)) if n_epochs else iter(int, 1)
    end_epoch, save = SharedMachinery.end_epoch, SharedJournal.save

    def die_after(method, is_meant):
        def method_or_death(self, *args):
            method(self, *args)
            if is_meant and next(epochs) == n_epochs and dist.get_rank() == victim:
                os._exit(9)

        return method_or_death

    SharedMachinery.end_epoch = die_after(end_epoch, victim == 0)
    SharedJournal.save = die_after(save, victim != 0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with skpresto.data_parallel(), skpresto.resumable(folder, every=0):
            clf.fit(X, y)
    return numbers_of(clf)


def fit_whole(name):
    X, y = noisy_blobs(100)
    clf = quick_with(name, Mixing, max_epochs=7)
    with warnings.catch_warnings(), skpresto.data_parallel():
        warnings.simplefilter("ignore")
        return numbers_of(clf.fit(X, y))


def fit_in_own_folders(folder):
    """Enter the folders first, one per process; only the first one is used."""
    X, y = noisy_blobs(60)
    own = f"{folder}/{dist.get_rank()}"
    clf = quick_with("DefaultClassifier", Mixing)
    with warnings.catch_warnings(), skpresto.resumable(own, every=0, keep=True):
        warnings.simplefilter("ignore")
        with skpresto.data_parallel():
            clf.fit(X, y)
        return len(skpresto.resume_status(own))
