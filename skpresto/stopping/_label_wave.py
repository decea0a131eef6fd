"""Stop rule based on the number of predictions that change between epochs."""

from collections.abc import Sequence
from numbers import Integral

from skpresto._sklearn import Interval
from skpresto.stopping._base import EpochRecord, StopRule, trailing_mean


class LabelWaveStop(StopRule):
    """Stop at the first local minimum of the number of changed predictions.

    While a network learns patterns common to many samples, fewer and fewer of its
    predictions for the training samples change from one epoch to the next. When it
    starts to memorize wrong labels, more of them change again [1]_. The rule needs no
    validation data and holds out no rows. In our experiments the minimum can be
    missing or late, so prefer :class:`AgreementStop` unless too few rows are available
    to hold some out.

    Parameters
    ----------
    window : int, default=3
        Number of epochs over which the fraction of changed predictions is averaged
        before the minimum is searched. A longer window ignores short fluctuations and
        stops later.

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
        # In the first epoch every prediction counts as changed, so it is left out, as
        # are averages over fewer than ``window`` epochs.
        changed = [record.changed_fraction for record in records[1:]]
        smooth = trailing_mean(changed, self.window)[self.window - 1 :]
        for position in range(len(smooth) - 1):
            if smooth[position + 1] > smooth[position]:
                return position + self.window
        return None

    def candidate(self, records: Sequence[EpochRecord]) -> int:
        """Return the first local minimum, or the last epoch if there is none yet."""
        minimum = self._first_minimum(records)
        return len(records) - 1 if minimum is None else minimum

    def is_settled(self, records: Sequence[EpochRecord]) -> bool:
        """Return whether the average has risen after its first local minimum."""
        return self._first_minimum(records) is not None
