"""Data and settings shared by the tests."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import settings
from sklearn.datasets import make_blobs

from skpresto import DefaultClassifier
from skpresto._classifier.check import check_fit
from skpresto._classifier.spec import build_net
from skpresto._training.trainer import Trainer

settings.register_profile("default", deadline=None, max_examples=60, derandomize=True)
settings.register_profile("thorough", deadline=None, max_examples=2000)
settings.load_profile("default")

torch.set_num_threads(1)


@pytest.fixture
def blobs():
    """Four classes that a small network separates in a few epochs."""
    X, y = make_blobs(n_samples=400, centers=4, cluster_std=0.9, random_state=0)
    return X.astype(np.float32), y


@pytest.fixture
def noisy_blobs(blobs):
    """The same with 30 % of the labels moved to the next class: X, y_noisy, y."""
    X, y = blobs
    is_wrong = np.random.RandomState(0).uniform(size=len(y)) < 0.3
    return X, np.where(is_wrong, (y + 1) % 4, y), y


@pytest.fixture
def make_trainer(noisy_blobs):
    """Return a function that starts a trainer with a classifier's parameters."""
    X, y, y_true = noisy_blobs

    def make(q=3, classifier=DefaultClassifier, n_networks=1, weights=None, **params):
        torch.manual_seed(0)
        estimator = classifier(**{"max_epochs": 10, "batch_size": 64, **params})
        data = check_fit(estimator, X, y, None, None, None, y_true).data
        data = replace(data, sample_weight=weights)
        trainer = Trainer(*build_net(estimator, data), data, q)
        trainer.start(n_networks, must_differ=n_networks > 1)
        return trainer

    with torch.random.fork_rng(devices=[]):
        yield make


@pytest.fixture
def everything():
    """Return a function that lists all numbers that training changes in a trainer."""

    def collect(trainer):
        net = trainer.net
        numbers = {f"module.{k}": v for k, v in net.module_.state_dict().items()}
        for i, state in net.optimizer_.state_dict()["state"].items():
            numbers |= {f"optimizer.{i}.{k}": v for k, v in state.items()}
        groups = net.optimizer_.state_dict()["param_groups"]
        numbers["lr"] = torch.tensor([group["lr"] for group in groups])
        for i, callback in enumerate(net.lr_schedulers):
            state = callback.lr_scheduler_.state_dict()
            scalars = [v for v in state.values() if isinstance(v, (int, float))]
            numbers[f"schedule.{i}"] = torch.tensor([*scalars, callback.batch_idx_])
        numbers |= trainer.history.state_dict()
        numbers["n_epochs"] = torch.tensor(trainer.n_epochs)
        return {k: v.clone() for k, v in numbers.items() if isinstance(v, torch.Tensor)}

    return collect


@pytest.fixture
def assert_equal():
    """Return a function that compares two such lists bit by bit."""

    def compare(first, second):
        assert first.keys() == second.keys()
        for name in first:
            np.testing.assert_array_equal(
                first[name].numpy(), second[name].numpy(), err_msg=name
            )

    return compare
