"""Measure wall-clock and CPU time."""

import time
from typing import Any, Self


class Stopwatch:
    """Add up the time spent inside ``with`` blocks.

    Copies of estimators and callbacks share it.

    Attributes
    ----------
    seconds : float
        Wall-clock time.
    cpu_seconds : float
        CPU time of this process, all threads together.
    """

    def __init__(self) -> None:
        self.seconds = self.cpu_seconds = 0.0

    def __enter__(self) -> Self:
        self._started = time.perf_counter(), time.process_time()
        return self

    def __exit__(self, *args: Any) -> None:
        self.seconds += time.perf_counter() - self._started[0]
        self.cpu_seconds += time.process_time() - self._started[1]

    def __deepcopy__(self, memo: dict) -> Self:
        return self
