"""Values that differ in one thing, values that are equal, and what has no value."""

import collections
import enum
import functools
import random
import sys
import textwrap
import threading

import numpy as np
import torch
from sklearn.model_selection import KFold
from skorch.callbacks import EpochScoring, LRScheduler, PrintLog
from torch import nn
from torch.utils.data import WeightedRandomSampler

from skpresto.stopping import AgreementStop


class Net(nn.Module):
    def __init__(self, n_features, n_classes, width=4, seed=0):
        super().__init__()
        torch.manual_seed(seed)
        self.first = nn.Linear(n_features, width)
        self.last = nn.Linear(width, n_classes)

    def forward(self, X):
        return self.last(torch.relu(self.first(X)))


def with_attribute(module, **attributes):
    for name, value in attributes.items():
        setattr(module, name, value)
    return module


def with_buffer(value):
    loss = nn.CrossEntropyLoss()
    loss.register_buffer("offset", torch.full((2,), value), persistent=False)
    return loss


def frozen(module):
    module.first.requires_grad_(False)
    return module


def tied(module):
    module.other = module.first
    return module


def untied(module):
    module.other = nn.Linear(2, 4)
    module.other.load_state_dict(module.first.state_dict())
    return module


def hooked(factor):
    module = Net(2, 2)
    module.register_forward_hook(lambda module, inputs, out: factor * out)
    return module


def rate(factor):
    return lambda epoch: factor**epoch


FACTOR = 2


def with_global(epoch):
    return FACTOR * epoch


def with_default(epoch, factor=2):
    return factor * epoch


def made_of(source):
    space = {"__name__": "made"}
    exec(textwrap.dedent(source), space)
    return space["made"]


class Color(enum.Enum):
    RED = 1
    BLUE = 2


class Slots:
    __slots__ = ("size",)

    def __init__(self, size):
        self.size = size


class Handle:
    """Holds something that has no value, and says so."""

    def __init__(self, name):
        self.name = name
        self.lock = threading.Lock()

    def __getstate__(self):
        return {"name": self.name}


Pair = collections.namedtuple("Pair", "a b")
METHOD = "class made:\n    def rate(self):\n        return {}\n"

#: Functions that make two values which are different, by what differs.
DIFFERENT = {
    "None and text": (lambda: None, lambda: "None"),
    "number and text": (lambda: 1, lambda: "1"),
    "int and float": (lambda: 1, lambda: 1.0),
    "int and bool": (lambda: 1, lambda: True),
    "single and double precision": (lambda: np.float32(0.1), lambda: 0.1),
    "long texts": (lambda: "a" * 99 + "b", lambda: "a" * 99 + "c"),
    "dates": (lambda: np.datetime64(1, "s"), lambda: np.datetime64(1, "ms")),
    "list and tuple": (lambda: [1], lambda: (1,)),
    "order of a dict": (lambda: {"a": 1, "b": 2}, lambda: {"b": 2, "a": 1}),
    "keys of a dict": (lambda: {1: "a"}, lambda: {"1": "a"}),
    "long lists": (lambda: [*range(99)], lambda: [*range(98), 0]),
    "long lists of lists": (lambda: [[1]] * 99, lambda: [[1]] * 98 + [[2]]),
    "long dicts": (
        lambda: dict.fromkeys(range(99), 1),
        lambda: dict.fromkeys(range(99), 2),
    ),
    "sets": (lambda: {1, 2}, lambda: {1, 3}),
    "named tuples": (lambda: Pair(1, 2), lambda: Pair(1, 3)),
    "default of a dict": (
        lambda: collections.defaultdict(int),
        lambda: collections.defaultdict(float),
    ),
    "members": (lambda: Color.RED, lambda: Color.BLUE),
    "slots": (lambda: Slots(1), lambda: Slots(2)),
    "values of arrays": (lambda: np.zeros(3), lambda: np.array([0, 0, 1.0])),
    "shapes": (lambda: np.zeros(2), lambda: np.zeros((1, 2))),
    "types of arrays": (lambda: np.zeros(2), lambda: np.zeros(2, np.float32)),
    "byte orders": (lambda: np.zeros(2, ">f4"), lambda: np.zeros(2, "<f4")),
    "masks": (
        lambda: np.ma.array([1, 2], mask=[0, 0]),
        lambda: np.ma.array([1, 2], mask=[0, 1]),
    ),
    "objects in arrays": (
        lambda: np.array([1, "a"], dtype=object),
        lambda: np.array([1, "b"], dtype=object),
    ),
    "fields": (
        lambda: np.array([(1, 2)], dtype="i4,i4"),
        lambda: np.array([(1, 3)], dtype="i4,i4"),
    ),
    "array and tensor": (lambda: np.zeros(2), lambda: torch.zeros(2)),
    "complex tensors": (lambda: torch.tensor([1j]), lambda: torch.tensor([-1j])),
    "half precision": (
        lambda: torch.ones(2, dtype=torch.bfloat16),
        lambda: torch.tensor([1, 2], dtype=torch.bfloat16),
    ),
    "sparse tensors": (
        lambda: torch.eye(2).to_sparse(),
        lambda: (2 * torch.eye(2)).to_sparse(),
    ),
    "trained and frozen": (lambda: Net(2, 2), lambda: frozen(Net(2, 2))),
    "weights": (lambda: Net(2, 2), lambda: Net(2, 2, seed=1)),
    "tied weights": (lambda: tied(Net(2, 2)), lambda: untied(Net(2, 2))),
    "channels last": (
        lambda: torch.zeros(2, 3, 4, 4),
        lambda: torch.zeros(2, 3, 4, 4).to(memory_format=torch.channels_last),
    ),
    "attributes of modules": (lambda: nn.Dropout(0.1), lambda: nn.Dropout(0.2)),
    "further attributes": (
        lambda: Net(2, 2),
        lambda: with_attribute(Net(2, 2), temperature=2),
    ),
    "order of layers": (
        lambda: nn.ModuleDict({"a": nn.ReLU(), "b": nn.ReLU()}),
        lambda: nn.ModuleDict({"b": nn.ReLU(), "a": nn.ReLU()}),
    ),
    "buffers": (lambda: with_buffer(0.0), lambda: with_buffer(1.0)),
    "hooks": (lambda: hooked(1), lambda: hooked(2)),
    "classes": (lambda: nn.ReLU, lambda: nn.GELU),
    "functions": (lambda: torch.relu, lambda: torch.tanh),
    "closures": (lambda: rate(0.5), lambda: rate(0.6)),
    "code": (lambda: lambda x: x + 1, lambda: lambda x: x + 2),
    "names in code": (lambda: lambda x: x.a, lambda: lambda x: x.b),
    "partials": (
        lambda: functools.partial(torch.optim.SGD, momentum=0.5),
        lambda: functools.partial(torch.optim.SGD, momentum=0.6),
    ),
    "methods of a class of the user": (
        lambda: made_of(METHOD.format(1)),
        lambda: made_of(METHOD.format(2)),
    ),
    "class attributes": (
        lambda: type("A", (), {"size": 1}),
        lambda: type("A", (), {"size": 2}),
    ),
    "bases": (lambda: type("A", (dict,), {}), lambda: type("A", (list,), {})),
    "bound methods": (lambda: [1].count, lambda: [2].count),
    "schedules": (
        lambda: LRScheduler("StepLR", step_size=2),
        lambda: LRScheduler("StepLR", step_size=7),
    ),
    "scores": (lambda: EpochScoring("accuracy"), lambda: EpochScoring("roc_auc")),
    "stop rules": (AgreementStop, lambda: AgreementStop(margin=0)),
    "splitters": (lambda: KFold(3), lambda: KFold(3, shuffle=True, random_state=0)),
    "random states": (
        lambda: np.random.RandomState(0),
        lambda: np.random.RandomState(1),
    ),
    "random generators": (
        lambda: np.random.default_rng(0),
        lambda: np.random.default_rng(1),
    ),
    "generators of torch": (
        lambda: torch.Generator().manual_seed(0),
        lambda: torch.Generator().manual_seed(1),
    ),
    "generators of Python": (lambda: random.Random(0), lambda: random.Random(1)),
    "samplers": (
        lambda: WeightedRandomSampler([1, 2], 2),
        lambda: WeightedRandomSampler([1, 3], 2),
    ),
}


#: Functions that make the same value in different ways.
EQUAL = {
    "numbers": (lambda: 1e-1, lambda: np.float64(0.1)),
    "integers": (lambda: 128, lambda: np.int64(128)),
    "truth": (lambda: True, lambda: np.True_),
    "texts": (lambda: "adam", lambda: np.str_("adam")),
    "strings that are not one object": (
        lambda: ["ab", "ab"],
        lambda: ["ab", "".join(["a", "b"])],
    ),
    "orders of sets": (lambda: {"a", "b", "c"}, lambda: {"c", "b", "a"}),
    "views": (lambda: np.zeros(3), lambda: np.zeros(6)[::2]),
    "devices": (lambda: "cpu", lambda: torch.device("cpu")),
    "callbacks that have been used": (
        lambda: EpochScoring("accuracy"),
        lambda: EpochScoring("accuracy").initialize(),
    ),
    "callbacks that only report": (PrintLog, lambda: PrintLog(sink=sys.stderr.write)),
    "what cannot be pickled, and says what counts": (
        lambda: Handle("a"),
        lambda: Handle("a"),
    ),
}


UNKNOWN = {
    "generator": lambda: (row for row in range(3)),
    "lock": threading.Lock,
    "function of ctypes": lambda: __import__("ctypes").CDLL(None).printf,
    "object that refuses": lambda: sys.stdout,
}
