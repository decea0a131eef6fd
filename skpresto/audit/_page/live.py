"""What the script needs to update the numbers after each answer, as Python would."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from skpresto.audit._calibration import ENOUGH_CHECKS
from skpresto.audit._curves import MISTAKES, TRUST

#: Stands for the level of the curve of labels of which none is wrong.
_NONE_WRONG = -1e9


def live_numbers(report: Any, positions: NDArray[np.intp]) -> dict[str, Any]:
    """Return curves, what they say about numbers of labels, and scores of samples.

    Parameters
    ----------
    report : LabelReport
        The report.
    positions : ndarray of int
        The samples shown, of which scores are needed.
    """
    calibration = report.calibration
    prior = calibration.prior
    order, n_suspects = report.order, int(report.is_suspect.sum())
    chosen = {
        "suspects": order[:n_suspects],
        "first": order[: min(100, len(order))],
        "all": order,
        "accepted": order[n_suspects:],
    }
    sums, variances = calibration.moments(
        np.stack([calibration.counts_in_bins(rows) for rows in chosen.values()]), prior
    )
    rows, is_wrong = report.checked_positions
    return {
        "level": _rounded(np.maximum(prior.level, _NONE_WRONG)),
        "slope": _rounded(prior.slope),
        "weight": _rounded(prior.weight),
        "sizes": {name: len(rows) for name, rows in chosen.items()},
        "sums": dict(zip(chosen, map(_rounded, sums.T), strict=True)),
        "variances": dict(zip(chosen, map(_rounded, variances.T), strict=True)),
        "scores": _rounded(calibration.scores[positions]),
        # Labels that were checked before, some of which may not be shown.
        "checked": [
            [int(row), float(calibration.scores[row]), bool(wrong)]
            for row, wrong in zip(rows, is_wrong, strict=True)
        ],
        "tells": report.evidence.tells_errors,
        "enough": ENOUGH_CHECKS,
        "mistakes": MISTAKES,
        "trust": TRUST,
    }


def _rounded(values: NDArray[np.float64]) -> list[float]:
    return [float(f"{value:.9g}") for value in values]
