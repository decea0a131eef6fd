"""Fits that are the same in other words."""

import copy

import numpy as np
from changes import (
    MINE,
    Fit,
    Loss,
    collate,
    factory,
    made,
    of_dataset,
    optimizer,
    pretrained,
    problem,
    stepwise,
    weighted,
)
from skorch.callbacks import LRScheduler
from torch import nn


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
    "schedule": _anew("callbacks", lambda: stepwise(step_size=2)),
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
    "Dataset": lambda rng: tuple(
        Fit(data=of_dataset(problem()["X"])) for _ in range(2)
    ),
}
