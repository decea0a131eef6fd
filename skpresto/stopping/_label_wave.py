"""The rule that watches how many predictions change from epoch to epoch."""

from collections.abc import Sequence
from numbers import Integral

from skpresto._sklearn import Interval
from skpresto.stopping._base import EpochRecord, StopRule, trailing_mean


class LabelWaveStop(StopRule):
    """Stop at the first local minimum of the number of changed predictions.

    While a network learns what labels have in common, its predictions for the
    training samples settle; when it starts to memorize wrong labels, predictions
    begin to change again [1]_. No validation data are needed. In our experiments the
    minimum can be missing or late, so prefer :class:`AgreementStop` unless you cannot
    spare held-out rows.

    Parameters
    ----------
    window : int, default=3
        Number of epochs over which the changes are averaged before looking for the
        minimum. A longer window overlooks small waves, and stops later.

    References
    ----------
    .. [1] S. Yuan, L. Feng, T. Liu, "Early Stopping Against Label Noise Without
       Validation Data", ICLR 2024.

    Examples
    --------
    >>> from skpresto import PrestoppingClassifier
    >>> from skpresto.stopping import LabelWaveStop
    >>> clf = PrestoppingClassifier(stop=LabelWaveStop(window=5))
    """

    _parameter_constraints = {"window": [Interval(Integral, 1, None, closed="left")]}

    def __init__(self, window: int = 3):
        self.window = window

    def _first_minimum(self, records: Sequence[EpochRecord]) -> int | None:
        # The first epoch has no epoch before it to differ from, so it does not count,
        # and averages over fewer than ``window`` epochs are left out.
        changed = [record.changed_fraction for record in records[1:]]
        smooth = trailing_mean(changed, self.window)[self.window - 1 :]
        for position in range(len(smooth) - 1):
            if smooth[position + 1] > smooth[position]:
                return position + self.window
        return None

    def candidate(self, records: Sequence[EpochRecord]) -> int:
        """Return the first local minimum, or the last epoch before there is one."""
        minimum = self._first_minimum(records)
        return len(records) - 1 if minimum is None else minimum

    def is_settled(self, records: Sequence[EpochRecord]) -> bool:
        """Return whether the minimum has been passed."""
        return self._first_minimum(records) is not None
