"""Fits that differ in one thing."""

import functools
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from scipy import sparse
from sklearn.model_selection import KFold, StratifiedKFold
from skorch.callbacks import EpochScoring, GradientNormClipping, LRScheduler
from torch import nn
from torch.utils.data import RandomSampler, TensorDataset, WeightedRandomSampler

import skpresto
from skpresto import stopping

N_ROWS, N_COLUMNS, N_CLASSES = 60, 4, 3
CLASSIFIERS = (
    skpresto.DefaultClassifier,
    skpresto.PrestoppingClassifier,
    skpresto.CoTeachingPlusClassifier,
    skpresto.CrossPrestoppingClassifier,
)


def problem():
    """Return samples of three classes, with 30 % of the labels drawn at random."""
    rng = np.random.RandomState(0)
    y = rng.randint(N_CLASSES, size=N_ROWS)
    X = rng.normal(size=(N_ROWS, N_COLUMNS)).astype(np.float32)
    X[np.arange(N_ROWS), y] += 3
    is_drawn = rng.uniform(size=N_ROWS) < 0.3
    return {"X": X, "y": np.where(is_drawn, rng.randint(N_CLASSES, size=N_ROWS), y)}


@dataclass(frozen=True)
class Fit:
    """Parameters of a classifier, and arguments of ``fit``."""

    params: dict[str, Any] = field(default_factory=dict)
    data: dict[str, Any] = field(default_factory=dict)


class Net(nn.Module):
    """A network of the user."""

    def __init__(self, n_features, n_classes, width=4, slope=0.1):
        super().__init__()
        self.first = nn.Linear(n_features, width)
        self.last = nn.Linear(width, n_classes)
        self.slope = slope

    def forward(self, X):
        """Return logits."""
        hidden = nn.functional.leaky_relu(self.first(X), self.slope)
        return self.last(hidden)


def pretrained(seed=0, **changes):
    """Return a network with weights, and maybe other attributes."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        net = Net(N_COLUMNS, N_CLASSES)
    vars(net).update(changes)
    return net


class Loss(nn.Module):
    """A criterion of the user, with a weight in a buffer that is not saved."""

    def __init__(self, strength):
        super().__init__()
        self.register_buffer("strength", torch.tensor(strength), persistent=False)

    def forward(self, logits, y):
        """Return one loss per sample."""
        return self.strength * nn.functional.cross_entropy(logits, y, reduction="none")


def factory(width):
    """Return a function that makes networks, with a variable around it."""
    return lambda n_features, n_classes: Net(n_features, n_classes, width)


def optimizer(**defaults):
    return functools.partial(torch.optim.SGD, **defaults)


def made(source):
    """Return a class from source code, as a cell of a notebook defines it."""
    space = {"Net": Net, "__name__": "__main__"}
    exec(source, space)
    return space["Mine"]


MINE = """
class Mine(Net):
    def forward(self, X):
        return {} * self.last(self.first(X))
"""


def collate(scale):
    def together(pairs):
        X, y = zip(*pairs, strict=True)
        return scale * torch.stack(X), torch.tensor(y)

    return together


def weighted(first):
    return WeightedRandomSampler([first] + [1.0] * (N_ROWS - 1), N_ROWS)


def _of_two(name, first, second):
    return lambda rng: (Fit({name: first}), Fit({name: second}))


def _number(name, low, high, kind=float):
    """Draw two numbers, each of the types in which it can be given."""

    def draw(rng):
        while True:
            a, b = rng.uniform(low, high, size=2)
            if kind(a) != kind(b):
                break
        types = (float, np.float64) if kind is float else (int, np.int64, np.int32)
        first, second = (types[rng.randint(len(types))](kind(v)) for v in (a, b))
        return Fit({name: first}), Fit({name: second})

    return draw


def _instances(name, make, low, high):
    """Draw two arguments of a function that makes the value of a parameter."""

    def draw(rng):
        a, b = rng.uniform(low, high, size=2)
        return Fit({name: make(a)}), Fit({name: make(b)})

    return draw


def _seeds(make):
    def draw(rng):
        a, b = rng.choice(1000, size=2, replace=False)
        return Fit({"random_state": make(a)}), Fit({"random_state": make(b)})

    return draw


def _values(wrap):
    """Change one number of X, kept in some kind of data."""

    def draw(rng):
        X = problem()["X"]
        other = X.copy()
        other[rng.randint(N_ROWS), rng.randint(N_COLUMNS)] += 10.0 ** -rng.randint(6)
        return Fit(data=wrap(X)), Fit(data=wrap(other))

    return draw


def _labels(rng):
    y = problem()["y"]
    other, row = y.copy(), rng.randint(N_ROWS)
    other[row] = (other[row] + 1) % N_CLASSES
    return Fit(), Fit(data={"y": other})


def _weights(rng):
    weight = rng.uniform(1, 2, size=N_ROWS)
    other = weight.copy()
    other[rng.randint(N_ROWS)] *= 0.5
    return Fit(data={"sample_weight": weight}), Fit(data={"sample_weight": other})


def of_dataset(X):
    return {"X": TensorDataset(torch.from_numpy(X), torch.zeros(N_ROWS))}


def stepwise(**params):
    return [LRScheduler("StepLR", **params)]


#: Functions that draw two different fits, by what differs.
CHANGES = {
    "lr": _number("lr", 0.01, 0.5),
    "max_epochs": _number("max_epochs", 2, 9, int),
    "batch_size": _number("batch_size", 8, 40, int),
    "q": _number("q", 2, 9, int),
    "int as random_state": _seeds(int),
    "numpy int as random_state": _seeds(np.int64),
    "RandomState": _seeds(np.random.RandomState),
    "width": lambda rng: tuple(
        Fit({"module__hidden": (int(width),)})
        for width in rng.choice(range(4, 20), size=2, replace=False)
    ),
    "momentum": _number("optimizer__momentum", 0, 0.9),
    "weight decay": _number("optimizer__weight_decay", 0, 0.1),
    "label smoothing": _number("criterion__label_smoothing", 0, 0.5),
    "classes of class_weight": _instances("class_weight", lambda v: {0: v}, 1, 3),
    "balanced": _of_two("class_weight", None, "balanced"),
    "autocast": _of_two("autocast", None, "bfloat16"),
    "threads": _of_two("n_jobs", 1, 2),
    "criterion, an instance": _instances(
        "criterion", lambda v: nn.CrossEntropyLoss(label_smoothing=v), 0, 0.9
    ),
    "criterion, its buffer": _instances(
        "criterion", lambda v: nn.CrossEntropyLoss(torch.tensor([1, 1, v])), 0.1, 2
    ),
    "criterion, mine": _instances("criterion", Loss, 0.5, 2),
    "criterion, a class": _of_two("criterion", nn.CrossEntropyLoss, nn.MultiMarginLoss),
    "module, weights": _instances("module", lambda v: pretrained(int(1e6 * v)), 0, 1),
    "module, an attribute": _instances("module", lambda v: pretrained(slope=v), 0, 0.5),
    "module, frozen": lambda rng: (
        Fit({"module": pretrained()}),
        Fit({"module": pretrained().requires_grad_(False)}),
    ),
    "module, a function": lambda rng: (
        Fit({"module": factory(4)}),
        Fit({"module": factory(rng.randint(5, 9))}),
    ),
    "module, code": _instances("module", lambda v: made(MINE.format(v)), 1, 2),
    "optimizer, a class": _of_two("optimizer", torch.optim.SGD, torch.optim.Adam),
    "optimizer, its defaults": _instances(
        "optimizer", lambda v: optimizer(momentum=v), 0, 0.9
    ),
    "schedule": lambda rng: (
        Fit({"callbacks": stepwise(step_size=2)}),
        Fit({"callbacks": stepwise(step_size=rng.randint(3, 9))}),
    ),
    "function of a schedule": _instances(
        "callbacks",
        lambda v: [LRScheduler("LambdaLR", lr_lambda=lambda epoch: v**epoch)],
        0.5,
        1,
    ),
    "callback": _instances("callbacks", lambda v: [GradientNormClipping(v)], 0.1, 2),
    "score": _of_two(
        "callbacks",
        [EpochScoring("accuracy", on_train=True)],
        [EpochScoring("balanced_accuracy", on_train=True)],
    ),
    "no callback": _of_two("callbacks", None, [GradientNormClipping(1.0)]),
    "sampler": _instances("iterator_train__sampler", weighted, 1, 50),
    "kind of sampler": _of_two(
        "iterator_train__sampler", weighted(1.0), RandomSampler(range(N_ROWS))
    ),
    "collate_fn": _instances("iterator_train__collate_fn", collate, 1, 2),
    "values": _values(lambda X: {"X": X}),
    "values of a sparse matrix": _values(lambda X: {"X": sparse.csr_array(X)}),
    "values of a Dataset": _values(of_dataset),
    "values of validation data": _values(
        lambda X: {"X_val": X, "y_val": problem()["y"]}
    ),
    "labels": _labels,
    "sample_weight": _weights,
}
#: The same for what only some classifiers have.
CHANGES_OF = {
    "PrestoppingClassifier": {
        "stop rule": _instances(
            "stop", lambda v: stopping.AgreementStop(margin=v), 1, 2
        ),
        "kind of stop rule": _of_two(
            "stop", stopping.AgreementStop(), stopping.LabelWaveStop()
        ),
    },
    "CoTeachingPlusClassifier": {"noise_rate": _number("noise_rate", 0.1, 0.4)},
    "CrossPrestoppingClassifier": {
        "cv": _of_two("cv", 2, 3),
        "splitter": _of_two("cv", KFold(2), StratifiedKFold(2)),
        "shuffled splitter": lambda rng: (
            Fit({"cv": KFold(2, shuffle=True, random_state=0)}),
            Fit({"cv": KFold(2, shuffle=True, random_state=rng.randint(1, 99))}),
        ),
        "RandomState of a splitter": lambda rng: tuple(
            Fit({"cv": KFold(2, shuffle=True, random_state=np.random.RandomState(s))})
            for s in rng.choice(99, size=2, replace=False)
        ),
    },
}
