"""What a fit needs of the processes that share its arithmetic."""

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from typing import Any, Protocol, TypeVar

from torch import Tensor

from skpresto._data.training_data import PredictionRows, TrainingData
from skpresto._label_quality.history import PredictionHistory
from skpresto._networks.net import NoisyLabelNet
from skpresto._training.epoch import EpochLoop
from skpresto._training.journal import Journal

T = TypeVar("T")

#: Predicts rows: one entry of the result per row.
Predict = Callable[[PredictionRows], Tensor]


class Team(Protocol):
    """Processes that train the same networks, each on a part of every batch.

    All of them hold the same networks, predictions and records, and take the same
    decisions at the same time.

    Attributes
    ----------
    is_alone : bool
        Whether there is only this process.
    is_first : bool
        Whether this is the process that shows progress and writes files.
    """

    is_alone: bool
    is_first: bool

    def fitting(self) -> AbstractContextManager[None]:
        """Let all processes end a fit together, also if it fails in one of them."""
        ...

    def check_same(self, estimator: Any, data: TrainingData) -> None:
        """Raise if processes differ in data, parameters or versions."""
        ...

    def agreed(self, value: T) -> T:
        """Return the value of the first process."""
        ...

    def shared(self, journal: Journal) -> Journal:
        """Return a journal that lets all processes resume from that of the first."""
        ...

    def begin_training(self, net: NoisyLabelNet) -> None:
        """Give the new networks of all processes the same weights."""
        ...

    def end_epoch(self, net: NoisyLabelNet) -> None:
        """Raise if the networks of processes differ after an epoch."""
        ...

    def predict(self, function: Predict, rows: PredictionRows) -> Tensor:
        """Return what a function predicts for rows, each process for some of them."""
        ...

    def epoch_loop(
        self, net: NoisyLabelNet, history: PredictionHistory, weights: Tensor | None
    ) -> EpochLoop:
        """Return what trains for one epoch at a time."""
        ...


class Alone:
    """One process: an ordinary fit."""

    is_alone = True
    is_first = True

    def fitting(self) -> AbstractContextManager[None]:
        """Do nothing."""
        return nullcontext()

    def check_same(self, estimator: Any, data: TrainingData) -> None:
        """Do nothing: there is nothing to compare with."""

    def agreed(self, value: T) -> T:
        """Return the value."""
        return value

    def shared(self, journal: Journal) -> Journal:
        """Return the journal."""
        return journal

    def begin_training(self, net: NoisyLabelNet) -> None:
        """Do nothing."""

    def end_epoch(self, net: NoisyLabelNet) -> None:
        """Do nothing."""

    def predict(self, function: Predict, rows: PredictionRows) -> Tensor:
        """Return what the function predicts."""
        return function(rows)

    def epoch_loop(
        self, net: NoisyLabelNet, history: PredictionHistory, weights: Tensor | None
    ) -> EpochLoop:
        """Return the ordinary loop."""
        return EpochLoop(net, history, weights)


# The team of a block, with the process and the thread that entered the block.
_ACTIVE: ContextVar[tuple[Team, int, int] | None] = ContextVar(
    "skpresto_team", default=None
)


def active_team() -> Team:
    """Return the team of the block that surrounds a fit.

    Worker processes and threads of a search are not part of the team, even if they
    inherit the variables of the one that entered the block: the order of their fits is
    not known to the other processes.
    """
    active = _ACTIVE.get()
    here = os.getpid(), threading.get_ident()
    return Alone() if active is None or active[1:] != here else active[0]


@contextmanager
def teamed(team: Team) -> Iterator[None]:
    """Let fits inside the block be shared by a team."""
    token = _ACTIVE.set((team, os.getpid(), threading.get_ident()))
    try:
        yield
    finally:
        _ACTIVE.reset(token)
