"""Stop rule that needs neither clean labels nor a noise rate."""

from collections.abc import Sequence
from numbers import Integral, Real

import numpy as np
from numpy.typing import NDArray

from skpresto._sklearn import Interval
from skpresto.stopping._base import (
    EpochRecord,
    StopRule,
    first_or_last,
    trailing_mean,
)


class AgreementStop(StopRule):
    """Stop where the memorized fraction reaches the accuracy on held-out noisy rows.

    A few noisy rows are held out of phase I. The lowest error on them is the fraction
    of labels that cannot be predicted from the other rows, because they are wrong or
    because their samples are too hard. If the majority predictions of a network agree
    with a larger fraction of its *training* labels than its accuracy on the held-out
    labels, it has started to memorize. The rule therefore stops at the first epoch
    whose memorized fraction reaches a threshold: one minus the lowest held-out error,
    plus ``margin`` standard errors if that is ever reached.

    The rule needs neither clean labels nor a noise rate, and is the default. Phase II
    trains on the held-out rows, too.

    Parameters
    ----------
    fraction : float, default=0.1
        Fraction of the training rows to hold out of phase I, stratified by label.
    patience : int, default=10
        Number of epochs without a lower held-out error after which phase I ends, once
        the memorized fraction has reached the threshold.
    margin : float, default=1.5
        Number of standard errors of the held-out error by which the threshold is
        raised, if the memorized fraction reaches the raised threshold before phase I
        ends. It matters if few rows are held out: their error is uncertain, and
        samples that have not been learned at a stop point that is too early stay
        outside the safe set.
    window : int, default=1
        Number of epochs over which the held-out error is averaged. The minimum of many
        uncertain values is too low by chance; with an average the threshold is lower
        and the stop point earlier.
    min_memorized_fraction : float, default=0
        Smallest memorized fraction at which phase I may stop. If the held-out error is
        high although most labels are correct, as on a thousand images, the threshold
        is low and many correct labels would be treated as wrong; a value of 0.5
        assumes that most labels are correct. If it is not reached, phase I takes all
        epochs.
    min_epochs : int, default=3
        Earliest stop point. Before that, there are too few predictions for a majority
        vote: after one epoch, every label that was predicted counts as memorized.

    Notes
    -----
    A lower held-out error raises the threshold, so the stop point can be an epoch
    before the current one. It never moves backwards.

    Examples
    --------
    >>> from skpresto import PrestoppingClassifier
    >>> from skpresto.stopping import AgreementStop
    >>> clf = PrestoppingClassifier(stop=AgreementStop(fraction=0.2))
    """

    _parameter_constraints = {
        "fraction": [Interval(Real, 0, 1, closed="neither")],
        "patience": [Interval(Integral, 1, None, closed="left")],
        "margin": [Interval(Real, 0, None, closed="left")],
        "window": [Interval(Integral, 1, None, closed="left")],
        "min_memorized_fraction": [Interval(Real, 0, 1, closed="both")],
        "min_epochs": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        fraction: float = 0.1,
        patience: int = 10,
        margin: float = 1.5,
        window: int = 1,
        min_memorized_fraction: float = 0,
        min_epochs: int = 3,
    ):
        self.fraction = fraction
        self.patience = patience
        self.margin = margin
        self.window = window
        self.min_memorized_fraction = min_memorized_fraction
        self.min_epochs = min_epochs

    @property
    def holdout_fraction(self) -> float:  # type: ignore[override]
        """Fraction of the training rows to hold out of phase I."""
        return self.fraction

    def _holdout_errors(self, records: Sequence[EpochRecord]) -> NDArray[np.float64]:
        raw = np.array([record.holdout_error for record in records], dtype=np.float64)
        return trailing_mean(raw, self.window)

    def _reached(self, records: Sequence[EpochRecord]) -> NDArray[np.bool_]:
        """Return which epochs have a memorized fraction that reaches the threshold."""
        memorized = np.array([record.memorized_fraction for record in records])
        memorized[: self.min_epochs - 1] = -np.inf
        errors = self._holdout_errors(records)
        spread = np.sqrt(errors * (1 - errors) / (records[0].n_holdout or 1))
        raised = 1 - errors + self.margin * spread
        # A raised threshold counts once it is reached. Those of all epochs so far are
        # considered: with that of the current epoch only, a new threshold that is not
        # reached would move the candidate back to the plain threshold.
        reached = raised[raised <= memorized.max()]
        plain = max(1 - errors.min(), self.min_memorized_fraction)
        return memorized >= np.max(reached, initial=plain)

    def candidate(self, records: Sequence[EpochRecord]) -> int:
        """Return the first epoch whose memorized fraction reaches the threshold."""
        return first_or_last(self._reached(records))

    def is_settled(self, records: Sequence[EpochRecord]) -> bool:
        """Return whether the threshold is reached and no longer expected to rise."""
        n_since_lowest = len(records) - 1 - self._holdout_errors(records).argmin()
        return bool(n_since_lowest >= self.patience and self._reached(records).any())

    def contenders(self, records: Sequence[EpochRecord]) -> Sequence[int]:
        """Return the candidate and later epochs with more memorized than before.

        Only these can be the first to reach a threshold that rises.
        """
        candidate = self.candidate(records)
        positions, most = [candidate], records[candidate].memorized_fraction
        for position in range(candidate + 1, len(records)):
            if records[position].memorized_fraction > most:
                positions.append(position)
                most = records[position].memorized_fraction
        return positions
