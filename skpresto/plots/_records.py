"""Reading what the epochs of a training left behind."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from skpresto.stopping import EpochRecord


def path_of(
    records: Sequence[EpochRecord], stop_epoch: int | None
) -> list[EpochRecord]:
    """Return the epochs that the network has behind it, in their order.

    With a stop point these are phase I up to there and phase II; what came between was
    undone, or gone through anew by judges that had to wait. Without one they are the
    last phase, for each earlier one was a network of its own.
    """
    if stop_epoch is None:
        last = max((record.phase for record in records), default=1)
        return [record for record in records if record.phase == last]
    kept = [record for record in phase_one_of(records) if record.epoch <= stop_epoch]
    return kept + waited_of(records, stop_epoch) + phase_two_of(records)


def phase_one_of(records: Sequence[EpochRecord]) -> list[EpochRecord]:
    """Return the epochs in which the stop point was found.

    Networks side by side repeat phase I up to the point found, or longer. Where they
    then leave it to the vote, others have found a stop point, and the safe set, anew.
    """
    runs = _runs_of(records, phase=1)
    return runs[0] if len(runs) < 3 else runs[-1]


def waited_of(records: Sequence[EpochRecord], stop_epoch: int) -> list[EpochRecord]:
    """Return the epochs of phase I in which judges had to wait after the stop point."""
    runs = _runs_of(records, phase=1)
    if len(runs) != 2:
        return []
    return [record for record in runs[1] if record.epoch > stop_epoch]


def phase_two_of(records: Sequence[EpochRecord]) -> list[EpochRecord]:
    """Return the epochs in which the safe set was found, in the last of its tries."""
    tries = [n for n, record in enumerate(records, start=1) if record.phase == 1]
    last = records[max(tries, default=0) :]
    return [record for record in last if record.phase == 2]


def _runs_of(records: Sequence[EpochRecord], phase: int) -> list[list[EpochRecord]]:
    """Return the epochs of a phase, network by network; at least one list."""
    runs: list[list[EpochRecord]] = [[]]
    for record in records:
        if record.phase != phase:
            continue
        if runs[-1] and record.epoch <= runs[-1][-1].epoch:
            runs.append([])
        runs[-1].append(record)
    return runs


def undone_of(records: Sequence[EpochRecord], stop_epoch: int) -> list[EpochRecord]:
    """Return the epochs of phase I beyond the stop point."""
    return [record for record in phase_one_of(records) if record.epoch > stop_epoch]


def require_truth(records: Sequence[EpochRecord], owner: str) -> None:
    """Raise if the records do not say which memorized labels are true."""
    if not records:
        raise ValueError(
            f"{owner} needs at least one record of an epoch, but got none. Pass the "
            "history_ of a fitted classifier."
        )
    if any(record.memorization_precision is None for record in records):
        raise ValueError(
            f"{owner} needs to know which labels are the true ones, but the records "
            "hold no memorization precision and recall. Train with "
            "fit(X, y, y_true=...), where y_true are the true labels; they are only "
            "measured with, not learnt from."
        )


def values_of(records: Sequence[EpochRecord], field: str) -> NDArray[np.float64]:
    """Return one field of the records, with nan where it is not known."""
    return np.array([getattr(record, field) for record in records], dtype=np.float64)
