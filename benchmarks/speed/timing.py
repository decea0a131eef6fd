"""Time contenders in turn, so that whatever else the machine does hits all alike."""

import time
from collections.abc import Callable


def fastest(contenders: dict[str, Callable[[], object]], rounds: int) -> dict:
    """Return the seconds of each contender in its fastest round.

    Seconds are processor seconds. With one thread they are those of the clock on an
    idle machine, and on a busy one they leave out the time that others were given.
    """
    best = dict.fromkeys(contenders, float("inf"))
    for _ in range(rounds):
        for name, run in contenders.items():
            started = time.process_time()
            run()
            best[name] = min(best[name], time.process_time() - started)
    return best
