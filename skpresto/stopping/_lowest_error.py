"""Rules that stop where the error on rows not trained on is lowest."""

from collections.abc import Sequence
from numbers import Integral, Real

import numpy as np
from numpy.typing import NDArray

from skpresto._sklearn import Interval
from skpresto.stopping._base import EpochRecord, StopRule


class _LowestErrorStop(StopRule):
    """Stop at the lowest point, or close to it, of an error curve."""

    _parameter_constraints = {
        "patience": [Interval(Integral, 1, None, closed="left")],
        "tolerance": [Interval(Real, 0, None, closed="left")],
    }

    patience: int
    tolerance: float

    def _errors(self, records: Sequence[EpochRecord]) -> NDArray[np.float64]:
        """Return the error of each epoch on the rows not trained on."""
        raise NotImplementedError

    def _n_rows(self, records: Sequence[EpochRecord]) -> int:
        """Return on how many rows the errors were measured."""
        raise NotImplementedError

    def candidate(self, records: Sequence[EpochRecord]) -> int:
        """Return the earliest epoch within the tolerance of the lowest error."""
        errors = self._errors(records)
        lowest = np.minimum.accumulate(errors)
        spread = np.sqrt(lowest * (1 - lowest) / self._n_rows(records))
        bars = lowest + self.tolerance * spread
        # A lower error can have a wider spread (above one half), and the bar it sets
        # can then be higher: the running maximum keeps the candidate from going back.
        return int(max((errors <= bar).argmax() for bar in bars))

    def is_settled(self, records: Sequence[EpochRecord]) -> bool:
        """Return whether the error has not fallen for ``patience`` epochs."""
        waited = len(records) - 1 - self._errors(records).argmin()
        return bool(waited >= self.patience)

    def contenders(self, records: Sequence[EpochRecord]) -> Sequence[int]:
        """Return the positions that are, or may still become, the candidate."""
        candidate = self.candidate(records)
        if self.tolerance == 0:
            return [candidate]
        return range(candidate, len(records))


class ValidationStop(_LowestErrorStop):
    """Stop where the error on clean validation data is lowest.

    The paper's first heuristic (its Algorithm 1): after the point at which the
    network starts to memorize wrong labels, its error on clean data rises. Prefer it
    if you have a few hundred rows whose labels you trust; with fewer, the error is so
    coarse that :class:`AgreementStop`, which needs none, was better in our
    experiments.

    Parameters
    ----------
    patience : int, default=10
        Number of epochs to wait for a lower error. More epochs cost time and find
        later minima.
    tolerance : float, default=0.0
        With 0, the first epoch of the lowest error is chosen. Above 0, the earliest
        epoch whose error lies within that many standard errors of the lowest.

    See Also
    --------
    HoldoutStop : The same on noisy rows held out of the training data.
    AgreementStop : The default without validation data.

    Examples
    --------
    >>> from skpresto import PrestoppingClassifier
    >>> from skpresto.stopping import ValidationStop
    >>> clf = PrestoppingClassifier(stop=ValidationStop(patience=15))
    """

    needs = frozenset({"X_val", "y_val"})

    def __init__(self, patience: int = 10, tolerance: float = 0.0):
        self.patience = patience
        self.tolerance = tolerance

    def _errors(self, records: Sequence[EpochRecord]) -> NDArray[np.float64]:
        return np.array([record.valid_error for record in records], dtype=np.float64)

    def _n_rows(self, records: Sequence[EpochRecord]) -> int:
        return records[0].n_valid or 1


class HoldoutStop(_LowestErrorStop):
    """Stop where the error on held-out noisy rows is lowest.

    As :class:`ValidationStop`, but on a stratified part of the *noisy* training data,
    which phase I does not see and phase II gets back. Wrong labels add the same
    error to every epoch, so the minimum stays roughly where it was, only less
    marked; hence the tolerance, which prefers the earlier of two epochs that cannot
    be told apart.

    Parameters
    ----------
    fraction : float, default=0.1
        Share of the training rows that is held out. More rows make the error less
        coarse and leave less to train on in phase I.
    patience : int, default=10
        Number of epochs to wait for a lower error.
    tolerance : float, default=1.0
        The earliest epoch whose error lies within that many standard errors of the
        lowest is chosen.

    See Also
    --------
    AgreementStop : Uses the held-out rows to judge the network's memory; better in
        our experiments, and the default.

    Examples
    --------
    >>> from skpresto import PrestoppingClassifier
    >>> from skpresto.stopping import HoldoutStop
    >>> clf = PrestoppingClassifier(stop=HoldoutStop(fraction=0.2))
    """

    _parameter_constraints = {
        "fraction": [Interval(Real, 0, 1, closed="neither")],
        **_LowestErrorStop._parameter_constraints,
    }

    def __init__(
        self, fraction: float = 0.1, patience: int = 10, tolerance: float = 1.0
    ):
        self.fraction = fraction
        self.patience = patience
        self.tolerance = tolerance

    @property
    def holdout_fraction(self) -> float:  # type: ignore[override]
        """Share of the training rows to hold out of phase I."""
        return self.fraction

    def _errors(self, records: Sequence[EpochRecord]) -> NDArray[np.float64]:
        return np.array([record.holdout_error for record in records], dtype=np.float64)

    def _n_rows(self, records: Sequence[EpochRecord]) -> int:
        return records[0].n_holdout or 1
