"""Small hand-made data for every display."""

import numpy as np

from skpresto.plots import (
    HistoryLengthDisplay,
    LossDistributionDisplay,
    MemorizationDisplay,
    NoiseRateCurveDisplay,
    SafeSetDisplay,
    StopPointDisplay,
    TransitionMatrixDisplay,
)
from skpresto.stopping import EpochRecord


def record(epoch, stage="phase 1", memorized=0.5, precision=0.8, recall=0.5, **fields):
    """Return an epoch record with plausible values."""
    phase = {"search": 1, "1": 1, "2": 2}.get(stage.split()[-1])
    fields = {"phase": phase, "n_networks": 5 if "cross-fit" in stage else 1, **fields}
    return EpochRecord(
        epoch=epoch,
        stage=stage,
        train_loss=1.0,
        train_error=1 - memorized,
        memorized_fraction=memorized,
        changed_fraction=0.1,
        memorization_precision=precision,
        memorization_recall=recall,
        **fields,
    )


def records_in(stage, epochs, **fields):
    """Return one record per epoch, all in the same stage."""
    return [record(epoch, stage, **fields) for epoch in epochs]


#: Four epochs of phase I, two of them after the stop point; two epochs of phase II; and
#: one of a newly initialized network.
RECORDS = (
    record(1, memorized=0.2, precision=1.0, recall=0.25, holdout_error=0.6),
    record(2, memorized=0.5, precision=0.9, recall=0.5625, holdout_error=0.4),
    record(3, memorized=0.7, precision=0.8, recall=0.7, holdout_error=0.5),
    record(4, memorized=0.9, precision=0.7, recall=0.7875, holdout_error=0.5),
    record(3, "phase 2", memorized=0.6, precision=0.95, recall=0.7125),
    record(4, "phase 2", memorized=0.75, precision=0.96, recall=0.9),
    record(1, "final", memorized=0.3, precision=1.0, recall=0.375),
)
STOP_EPOCH = 2

RESULTS = (
    {"method": "A", "noise": "pair", "rate": 0.4, "q": 5, "seed": 0, "error": 0.3},
    {"method": "A", "noise": "pair", "rate": 0.4, "q": 5, "seed": 1, "error": 0.5},
    {"method": "A", "noise": "pair", "rate": 0.0, "q": 1, "seed": 0, "error": 0.1},
    {"method": "B", "noise": "real", "rate": 0.4, "q": 5, "seed": 0, "error": 0.2},
)

#: A function that returns a new display, by the name of the display.
DISPLAYS = {
    "HistoryLengthDisplay": lambda: HistoryLengthDisplay(RESULTS),
    "LossDistributionDisplay": lambda: LossDistributionDisplay(
        [0.1, 0.2, 0.3, 2.0], [True, True, False, False], bins=4
    ),
    "MemorizationDisplay": lambda: MemorizationDisplay(RECORDS, STOP_EPOCH),
    "NoiseRateCurveDisplay": lambda: NoiseRateCurveDisplay(RESULTS),
    "SafeSetDisplay": lambda: SafeSetDisplay(RECORDS),
    "StopPointDisplay": lambda: StopPointDisplay(RECORDS, STOP_EPOCH),
    "TransitionMatrixDisplay": lambda: TransitionMatrixDisplay(
        np.array([[0.6, 0.4], [0.02, 0.98]]), ["cat", "dog"]
    ),
}
