"""Waits for the device and operators launched on it, per batch of a fit."""

from typing import NamedTuple

import torch
from torch import nn

from skpresto._training.step import Step
from tests.device.pretend.device import counted_waits, taken_launches
from tests.discovery import FEWER_RUNS

#: Two sizes of batches. What an epoch costs as a whole cancels in the difference.
_SIZES = 80, 20


class PerBatch(NamedTuple):
    """What a batch costs."""

    waits: float
    launches: float


class OneLayer(nn.Linear):
    """The smallest network, for tables and pictures."""

    def __init__(self, n_features, n_classes):
        super().__init__(n_features, n_classes)

    def forward(self, X):
        return super().forward(X.flatten(1))


def per_batch(Classifier, X, y, **params):
    """Return the waits and launches that each further batch of a fit adds."""
    counts = [_counted(Classifier, X, y, size, params) for size in _SIZES]
    few, many = counts
    n_batches = many[0] - few[0]
    return PerBatch(
        *((b - a) / n_batches for a, b in zip(few[1:], many[1:], strict=True))
    )


def _counted(Classifier, X, y, batch_size, params):
    """Return the numbers of batches, waits and launches of a fit."""
    n_batches, forward = 0, Step.forward

    def counting(self, *args):
        nonlocal n_batches
        n_batches += 1
        return forward(self, *args)

    own = FEWER_RUNS.get(Classifier.__name__, {})
    params = {"max_epochs": 6, "q": 3, "random_state": 0, **own, **params}
    clf = Classifier(OneLayer, batch_size=batch_size, device="cuda", **params)
    Step.forward = counting
    try:
        taken_launches()
        with counted_waits() as waits:
            clf.fit(X, y)
        return n_batches, len(waits), taken_launches()
    finally:
        Step.forward = forward


def loop_per_batch(X, y, n_batches=20):
    """Return the launches of a loop written by hand, from features to step."""
    layer = OneLayer(X.shape[1], 3).to("cuda")
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.1, momentum=0.9, fused=True)
    X, y = torch.from_numpy(X).to("cuda"), torch.from_numpy(y).to("cuda")
    taken_launches()
    for _ in range(n_batches):
        optimizer.zero_grad()
        nn.functional.cross_entropy(layer(X[:32]), y[:32]).backward()
        optimizer.step()
    return taken_launches() / n_batches
