"""The rule that needs no supervision: stop where memory outgrows knowledge."""

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
    """Stop where more training labels are memorized than unseen ones can be known.

    The lowest error on *unseen* noisy rows is the share of labels that cannot be
    predicted from the rest, the wrong and the hopeless ones together. A network whose
    own history agrees with a larger share of its *training* labels than it gets right
    among unseen ones has begun to memorize. So the rule stops at the first epoch
    whose memorized share reaches one minus the lowest held-out error, and exceeds it
    by more than chance if it ever does.

    It needs neither clean data nor a noise rate, and is the default. The held-out
    rows come back for phase II.

    Parameters
    ----------
    fraction : float, default=0.1
        Share of the training rows that is held out of phase I, stratified by label.
    patience : int, default=10
        Number of epochs to wait for a lower held-out error, once the memorized share
        has reached the present bar.
    margin : float, default=1.5
        By how many standard errors of the held-out error the memorized share is to
        exceed the bar, if it gets so far while the rule waits. It matters where few
        rows are held out: their error is uncertain, and a stop too early leaves out
        for good what has not been learnt yet.
    window : int, default=1
        Number of epochs over which the held-out error is averaged. The lowest of
        many uncertain values is low by chance; a mean sets a lower bar, and an earlier
        stop.
    least : float, default=0
        Smallest memorized share at which to stop. Where little can be known of unseen
        rows, as on a thousand images, right labels that cannot be predicted from the
        rest would be taken for wrong ones; 0.5 presumes that most labels are right. If
        it is not reached, phase I takes all epochs.
    min_epochs : int, default=3
        Earliest stop point. Before, the history is too short for a vote: after one
        epoch, whatever was predicted counts as memorized.

    Notes
    -----
    A lower held-out error raises the bar, so the stop point can lie behind the
    present epoch, and only ever moves forward.

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
        "least": [Interval(Real, 0, 1, closed="both")],
        "min_epochs": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        fraction: float = 0.1,
        patience: int = 10,
        margin: float = 1.5,
        window: int = 1,
        least: float = 0,
        min_epochs: int = 3,
    ):
        self.fraction = fraction
        self.patience = patience
        self.margin = margin
        self.window = window
        self.least = least
        self.min_epochs = min_epochs

    @property
    def holdout_fraction(self) -> float:  # type: ignore[override]
        """Share of the training rows to hold out of phase I."""
        return self.fraction

    def _holdout_errors(self, records: Sequence[EpochRecord]) -> NDArray[np.float64]:
        raw = np.array([record.holdout_error for record in records], dtype=np.float64)
        return trailing_mean(raw, self.window)

    def _reached(self, records: Sequence[EpochRecord]) -> NDArray[np.bool_]:
        """Return for each epoch whether its memorized share reaches the bar."""
        memorized = np.array([record.memorized_fraction for record in records])
        memorized[: self.min_epochs - 1] = -np.inf
        errors = self._holdout_errors(records)
        spread = np.sqrt(errors * (1 - errors) / (records[0].n_holdout or 1))
        raised = 1 - errors + self.margin * spread
        # A raised bar counts once it is reached. All epochs so far have set one: if
        # only the present one did, a new bar out of reach would let the candidate fall
        # back to the plain one.
        within_reach = raised[raised <= memorized.max()]
        plain = max(1 - errors.min(), self.least)
        return memorized >= np.max(within_reach, initial=plain)

    def candidate(self, records: Sequence[EpochRecord]) -> int:
        """Return the first epoch whose memorized share reaches the bar."""
        return first_or_last(self._reached(records))

    def is_settled(self, records: Sequence[EpochRecord]) -> bool:
        """Return whether the bar is reached and has not risen for a while."""
        waited = len(records) - 1 - self._holdout_errors(records).argmin()
        return bool(waited >= self.patience and self._reached(records).any())

    def contenders(self, records: Sequence[EpochRecord]) -> Sequence[int]:
        """Return the candidate and the later epochs that memorized more than before.

        Only those can be the first to reach a bar that rises.
        """
        candidate = self.candidate(records)
        positions, most = [candidate], records[candidate].memorized_fraction
        for position in range(candidate + 1, len(records)):
            if records[position].memorized_fraction > most:
                positions.append(position)
                most = records[position].memorized_fraction
        return positions
