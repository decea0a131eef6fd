"""torch's random state and number of threads, set for the time of a call.

The random state belongs to the whole process. Fits in several threads take turns, or
they would draw from each other's random sequence; predictions draw nothing and never
wait for a fit to end.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from threading import Event, Lock, RLock
from typing import Any

import joblib
import torch

from skpresto._device import kept_random_states
from skpresto._heap import kept_heap

_FIT_TURN = RLock()

# How long a fit pauses between two batches for predictions in other threads.
_LONGEST_PAUSE = 0.005

# Threads that a process can surely have.
_MANY_THREADS = 16


@contextmanager
def fit_turn(
    seed: int, device: str | torch.device, input_shape: Any = None
) -> Iterator[None]:
    """Let no other thread fit inside the block, with a seed and one thread of torch.

    The caller's random state and number of threads are restored after it. Of images,
    given by the shape of a sample, freed memory is kept until then.
    """
    kept = kept_random_states(torch.device(device), seed=seed)
    is_image = isinstance(input_shape, tuple) and len(input_shape) == 3
    heap = kept_heap() if is_image else nullcontext()
    with _FIT_TURN, kept, heap, _threads(1):
        yield


class _ActivePredictions:
    """Count the predictions that are running, so that a fit can pause for them.

    Python's lock of the interpreter would otherwise return to a prediction only after
    five milliseconds, for each of its many operations on torch tensors.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._n_active = 0
        self._none = Event()
        self._none.set()

    def __enter__(self) -> None:
        with self._lock:
            self._n_active += 1
            self._none.clear()

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._n_active -= 1
            if self._n_active == 0:
                self._none.set()

    def wait(self) -> None:
        """Wait until no prediction is running, but not long."""
        if not self._none.is_set():
            self._none.wait(_LONGEST_PAUSE)


_ACTIVE_PREDICTIONS = _ActivePredictions()

#: To be called between the batches of a fit.
pause_for_predictions = _ACTIVE_PREDICTIONS.wait


@contextmanager
def predict_threads(n_jobs: int | None) -> Iterator[None]:
    """Let a prediction use ``n_jobs`` threads; do not wait for fits."""
    with _ACTIVE_PREDICTIONS, _threads(n_threads_of(n_jobs)):
        yield


@contextmanager
def _threads(n_threads: int) -> Iterator[None]:
    # torch keeps this number per Python thread: calls do not disturb each other.
    before = torch.get_num_threads()
    torch.set_num_threads(n_threads)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def n_threads_of(n_jobs: int | None) -> int:
    """Return a number of threads for ``n_jobs`` as joblib understands it.

    It is at most the number of CPUs of the machine, or :data:`_MANY_THREADS` if there
    are fewer: more have no use, and too many end the process.

    Examples
    --------
    >>> n_threads_of(None), n_threads_of(3)
    (1, 3)
    """
    if n_jobs is None:
        return 1
    if n_jobs < 0:
        return max(1, joblib.cpu_count() + 1 + n_jobs)
    return min(n_jobs, max(_MANY_THREADS, os.cpu_count() or 1))
