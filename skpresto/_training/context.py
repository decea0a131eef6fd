"""What surrounds a fit: the blocks that it is called in."""

import os
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from skpresto._data.training_data import TrainingData
from skpresto._label_quality.trajectories import Trajectories
from skpresto._networks.net import NoisyLabelNet
from skpresto._training.machinery import Machinery
from skpresto._training.request import FitRequest

if TYPE_CHECKING:
    from skpresto._training.stage import StageRun


class Journal(Protocol):
    """Stores the state of each stage of training, so that a killed fit can go on."""

    def resume(self, run: "StageRun") -> None:
        """Put the stage that begins into its stored state, if there is one."""
        ...

    def save(self, run: "StageRun") -> None:
        """Store the state after an epoch, if it is time to."""
        ...

    def interrupted(self) -> None:
        """Keep what is stored, since Ctrl-C ended the fit before its time."""
        ...


class FitFolder(Protocol):
    """A folder from which killed fits go on."""

    def begin_fit(
        self, estimator: Any, request: FitRequest, seed: int
    ) -> tuple[Journal | None, int]:
        """Return the journal of the next fit, and the seed that it began with."""
        ...


class Team:
    """Processes that train the same networks, each on a part of every batch.

    All of them hold the same networks, predictions and records, and take the same
    decisions at the same time. This is a team of one: an ordinary fit.

    Attributes
    ----------
    is_alone : bool
        Whether there is only this process.
    is_first : bool
        Whether this is the process that shows progress and writes files.
    local_rank : int or None
        Number of this process among those on this machine, if that is known.
    """

    is_alone = True
    is_first = True
    local_rank: int | None = None

    def fitting(self) -> AbstractContextManager[None]:
        """Let all processes end a fit together, also if it fails in one of them."""
        return nullcontext()

    def begin_fit(
        self,
        estimator: Any,
        request: FitRequest,
        rng: np.random.RandomState,
        folder: FitFolder | None,
    ) -> tuple[Journal | None, int]:
        """Return the journal of a fit, and its seed: a new one unless it is resumed."""
        seed = int(rng.randint(np.iinfo(np.int32).max))
        if folder is None:
            return None, seed
        return folder.begin_fit(estimator, request, seed)

    def machinery(self, net: NoisyLabelNet, data: TrainingData) -> Machinery:
        """Return how batches are computed."""
        return Machinery(net)


@dataclass(frozen=True)
class FitContext:
    """What the blocks around a fit ask for.

    Parameters
    ----------
    team : Team
        The processes that train together (``data_parallel``).
    folder : FitFolder or None
        Where progress is stored (``resumable``).
    trajectories : Trajectories or None
        Collects the probability of each given label, for an audit.
    keeps_interrupted : bool
        Whether a fit that is interrupted keeps its networks (``keep_interrupted``).
    """

    team: Team = field(default_factory=Team)
    folder: FitFolder | None = None
    trajectories: Trajectories | None = None
    keeps_interrupted: bool = False


#: The context, with the process and the thread that entered its block.
_ENTERED: ContextVar[tuple[FitContext, int, int] | None] = ContextVar(
    "skpresto_fit", default=None
)


def current_context() -> FitContext:
    """Return the context of the blocks that surround a call.

    Worker processes and threads of a search are in none of them, even if they inherit
    the variables of the one that entered: fits of a block are numbered, and the order
    of theirs is not known.
    """
    entered = _ENTERED.get()
    here = os.getpid(), threading.get_ident()
    return FitContext() if entered is None or entered[1:] != here else entered[0]


@contextmanager
def context_with(**changes: Any) -> Iterator[None]:
    """Let fits inside the block have a context that differs in some fields."""
    context = replace(current_context(), **changes)
    token = _ENTERED.set((context, os.getpid(), threading.get_ident()))
    try:
        yield
    finally:
        _ENTERED.reset(token)


@contextmanager
def keep_interrupted() -> Iterator[None]:
    """Keep the networks trained so far if a fit inside the block is interrupted.

    Without it, Ctrl-C in ``fit`` reaches the caller as ``KeyboardInterrupt`` and
    nothing is fitted. Inside the block, ``fit`` returns with a
    :class:`~sklearn.exceptions.ConvergenceWarning`, and the attribute
    ``is_interrupted_`` of the classifier is True.

    Notes
    -----
    The networks are those that were in training, after their last step; if they have
    not completed an epoch, those of the stage before. If no epoch was completed at all,
    ``KeyboardInterrupt`` reaches the caller. ``safe_mask_``, ``suggested_labels_`` and
    ``label_agreement_`` are computed from the last ``q`` predictions of these networks,
    and ``label_quality_`` is ``label_agreement_``. Attributes of stages that were not
    reached, such as ``stop_epoch_`` or ``corrected_labels_``, are absent.

    Only the fit that is running is ended: a search inside the block goes on with its
    next fit. Fits in other threads and processes are not affected.

    Examples
    --------
    >>> import skpresto
    >>> from sklearn.datasets import make_blobs
    >>> X, y = make_blobs(n_samples=200, random_state=0)
    >>> clf = skpresto.DefaultClassifier(max_epochs=5, random_state=0)
    >>> with skpresto.keep_interrupted():
    ...     clf = clf.fit(X, y)
    >>> clf.is_interrupted_
    False
    """
    with context_with(keeps_interrupted=True):
        yield


@contextmanager
def recorded_trajectories() -> Iterator[Trajectories]:
    """Record the trajectories of the fit inside the ``with`` block.

    Methods with two phases and cross-fitting are recorded, others leave it empty.
    """
    trajectories = Trajectories()
    with context_with(trajectories=trajectories):
        yield trajectories
