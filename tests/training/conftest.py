"""A trainer on small data, made to order."""

import numpy as np
import pytest
import torch

from skpresto import DefaultClassifier
from skpresto._build_net import build_net
from skpresto._inputs import check_training_data
from skpresto._training.progress import Progress
from skpresto._training.trainer import Trainer


@pytest.fixture
def make_trainer(noisy_blobs):
    """Return a function that makes a trainer from a classifier's parameters."""
    X, y, y_true = noisy_blobs

    def make(q=3, seed=0, classifier=DefaultClassifier, **params):
        torch.manual_seed(seed)
        estimator = classifier(**{"max_epochs": 10, "batch_size": 64, **params})
        data = check_training_data(estimator, X, y, None, None, y_true)
        return Trainer(build_net(estimator, data), data, q, Progress(0, 10))

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
        numbers["predicted"], numbers["n_entries"] = trainer.label_history.state()
        numbers["n_epochs"] = torch.tensor([trainer.n_epochs, len(net.history)])
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
