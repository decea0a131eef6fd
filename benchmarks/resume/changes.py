"""Fits that differ in one thing, and fits that are the same in other words."""

import copy
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


def _dataset(X):
    return {"X": TensorDataset(torch.from_numpy(X), torch.zeros(N_ROWS))}


def _schedule(**params):
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
        Fit({"callbacks": _schedule(step_size=2)}),
        Fit({"callbacks": _schedule(step_size=rng.randint(3, 9))}),
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
    "values of a Dataset": _values(_dataset),
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


def _in_words(name, *values):
    """Draw two of several ways to write the same value; functions are called."""

    def draw(rng):
        first, second = rng.choice(len(values), size=2, replace=False)
        return tuple(
            Fit({name: v() if callable(v) else v})
            for v in (values[first], values[second])
        )

    return draw


def _anew(name, make):
    return lambda rng: (Fit({name: make()}), Fit({name: make()}))


#: Functions that draw two equal fits in other words, by what is written differently.
SAME = {
    "lr": _in_words("lr", 1e-1, 0.1, np.float64(0.1), np.float64("0.1")),
    "batch_size": _in_words("batch_size", 16, np.int64(16), np.int32(16), np.uint8(16)),
    "max_epochs": _in_words("max_epochs", 6, np.int64(6), np.int16(6)),
    "q": _in_words("q", 4, np.int8(4), np.uint64(4)),
    "random_state": _in_words("random_state", 7, np.int64(7), np.uint32(7)),
    "RandomState": _anew("random_state", lambda: np.random.RandomState(3)),
    "momentum": _in_words("optimizer__momentum", 0.5, 5e-1, np.float64(0.5)),
    "class_weight": _in_words(
        "class_weight", {0: 1, 1: 2}, {1: 2, 0: 1}, {0: np.int64(1), 1: np.int64(2)}
    ),
    "threads": _in_words("n_jobs", None, 1, np.int64(1)),
    "verbose": _in_words("verbose", 0, False),
    "criterion": _anew("criterion", lambda: nn.CrossEntropyLoss(label_smoothing=0.1)),
    "criterion, mine": _anew("criterion", lambda: Loss(1.5)),
    "module": _anew("module", pretrained),
    "copy of a module": _in_words(
        "module", pretrained, lambda: copy.deepcopy(pretrained())
    ),
    "module, a function": _anew("module", lambda: factory(5)),
    "module, code": _anew("module", lambda: made(MINE.format(2))),
    "optimizer": _anew("optimizer", lambda: optimizer(momentum=0.5)),
    "schedule": _anew("callbacks", lambda: _schedule(step_size=2)),
    "function of a schedule": _anew(
        "callbacks", lambda: [LRScheduler("LambdaLR", lr_lambda=lambda e: 0.9**e)]
    ),
    "sampler": _anew("iterator_train__sampler", lambda: weighted(3.0)),
    "collate_fn": _anew("iterator_train__collate_fn", lambda: collate(2.0)),
    "copy of X": lambda rng: (Fit(), Fit(data={"X": problem()["X"].copy("F")})),
    "X in double precision": lambda rng: (
        Fit(),
        Fit(data={"X": problem()["X"].astype(float)}),
    ),
    "list of labels": lambda rng: (Fit(), Fit(data={"y": problem()["y"].tolist()})),
    "Dataset": lambda rng: tuple(Fit(data=_dataset(problem()["X"])) for _ in range(2)),
}
