"""Time alternatives in turn, so that other load affects all of them alike."""

import time
from collections.abc import Callable


def fastest(contenders: dict[str, Callable[[], object]], rounds: int) -> dict:
    """Return the seconds of each alternative in its fastest round.

    Processor seconds are used: with one thread they equal wall-clock seconds on an idle
    machine, and they exclude the time of other processes on a busy one.
    """
    best = dict.fromkeys(contenders, float("inf"))
    for _ in range(rounds):
        for name, run in contenders.items():
            started = time.process_time()
            run()
            best[name] = min(best[name], time.process_time() - started)
    return best
