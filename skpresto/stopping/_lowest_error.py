"""Stop rules based on the error on validation or held-out rows."""

from abc import abstractmethod
from collections.abc import Sequence
from numbers import Integral, Real

import numpy as np
from numpy.typing import NDArray

from skpresto._sklearn import Interval
from skpresto.stopping._base import EpochRecord, StopRule


class _LowestErrorStop(StopRule):
    """Stop at the lowest error, or at an earlier epoch within a tolerance of it."""

    _parameter_constraints = {
        "patience": [Interval(Integral, 1, None, closed="left")],
        "tolerance": [Interval(Real, 0, None, closed="left")],
    }

    patience: int
    tolerance: float

    @abstractmethod
    def _errors(self, records: Sequence[EpochRecord]) -> NDArray[np.float64]:
        """Return the error of each epoch on rows that are not trained on."""

    @abstractmethod
    def _n_rows(self, records: Sequence[EpochRecord]) -> int:
        """Return the number of rows on which the errors were measured."""

    def candidate(self, records: Sequence[EpochRecord]) -> int:
        """Return the earliest epoch whose error is within tolerance of the lowest."""
        errors = self._errors(records)
        lowest = np.minimum.accumulate(errors)
        spread = np.sqrt(lowest * (1 - lowest) / self._n_rows(records))
        thresholds = lowest + self.tolerance * spread
        # Above an error of 0.5, a lower error has a larger standard error, so that the
        # threshold can rise. The maximum over all epochs keeps the candidate from
        # moving backwards.
        return int(max((errors <= threshold).argmax() for threshold in thresholds))

    def is_settled(self, records: Sequence[EpochRecord]) -> bool:
        """Return whether the error has not fallen for ``patience`` epochs."""
        n_since_lowest = len(records) - 1 - self._errors(records).argmin()
        return bool(n_since_lowest >= self.patience)

    def contenders(self, records: Sequence[EpochRecord]) -> Sequence[int]:
        """Return the positions that are, or may still become, the candidate."""
        candidate = self.candidate(records)
        if self.tolerance == 0:
            return [candidate]
        return range(candidate, len(records))


class ValidationStop(_LowestErrorStop):
    """Stop where the error on clean validation data is lowest.

    The first heuristic of the Prestopping paper (Algorithm 1): once the network starts
    to memorize wrong labels, its error on clean data rises. Use it if a few hundred
    clean validation rows are available. With fewer rows the error is too coarse, and
    :class:`AgreementStop`, which needs no clean rows, was better in our experiments.

    Parameters
    ----------
    patience : int, default=10
        Number of epochs without a lower error after which phase I ends. A larger value
        takes more time and can find later minima.
    tolerance : float, default=0.0
        Tolerance in standard errors of the lowest error. The earliest epoch whose
        error is within the tolerance of the lowest error is chosen; with 0, the first
        epoch with the lowest error.

    See Also
    --------
    HoldoutStop : The same rule on noisy rows held out of the training data.
    AgreementStop : The default if there are no validation data.

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

    Like :class:`ValidationStop`, but the error is measured on a stratified part of the
    *noisy* training rows. Phase I does not train on these rows, phase II does. Wrong
    labels raise the error of every epoch by about the same amount, so the minimum
    stays roughly at the same epoch but is less pronounced. Therefore the rule has a
    tolerance by default: of epochs whose errors do not differ significantly, it
    chooses the earliest.

    Parameters
    ----------
    fraction : float, default=0.1
        Fraction of the training rows to hold out. With more rows the error is less
        coarse, and fewer rows are trained on in phase I.
    patience : int, default=10
        Number of epochs without a lower error after which phase I ends.
    tolerance : float, default=1.0
        Tolerance in standard errors of the lowest error. The earliest epoch whose
        error is within the tolerance of the lowest error is chosen.

    See Also
    --------
    AgreementStop : Compares the held-out error with the fraction of memorized labels;
        better in our experiments, and the default.

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
        """Fraction of the training rows to hold out of phase I."""
        return self.fraction

    def _errors(self, records: Sequence[EpochRecord]) -> NDArray[np.float64]:
        return np.array([record.holdout_error for record in records], dtype=np.float64)

    def _n_rows(self, records: Sequence[EpochRecord]) -> int:
        return records[0].n_holdout or 1
