"""Precision and recall of the safe set in phase II."""

from collections.abc import Sequence
from typing import Any

from skpresto.plots._axes import COLORS, get_axes, show_percent
from skpresto.plots._records import (
    classifier_with_stop_point,
    frame_of_epochs,
    phase_two_of,
    require_truth,
    values_of,
)
from skpresto.stopping import EpochRecord

#: Field of a record, name in the legend, color and line style.
_CURVES = (
    ("memorization_precision", "precision", COLORS["green"], "-"),
    ("memorization_recall", "recall", COLORS["blue"], "--"),
)


class SafeSetDisplay:
    """Precision and recall of the safe set over the epochs of phase II.

    The safe set contains the samples whose given label is the majority prediction of
    the network over their last q visits. Precision is the fraction of the safe set that
    is labeled correctly; recall is the fraction of the correctly labeled samples that
    are in the safe set. If both are high, phase II trains on nearly all correct labels
    and on few wrong ones [1]_.

    Parameters
    ----------
    records : sequence of EpochRecord
        Records of a training with ``y_true``, as in ``history_`` of a fitted
        classifier. Only the records of phase II are shown.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
        Axes and figure of the last plot.

    See Also
    --------
    MemorizationDisplay : Memorized labels from the first epoch on.

    Notes
    -----
    For :class:`~skpresto.CrossPrestoppingClassifier`, phase II is that of the fold
    networks, and the safe set contains the samples whose given label is accepted.
    After a fallback, phase II is that of the fallback.

    References
    ----------
    .. [1] H. Song, M. Kim, D. Park, J.-G. Lee, "How does early stopping help
       generalization against label noise?", arXiv:1911.08059, 2019. Appendix A.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from skpresto import PrestoppingClassifier
    >>> from skpresto.noise import SymmetricNoise
    >>> from skpresto.plots import SafeSetDisplay
    >>> from skpresto.stopping import NoiseRateStop
    >>> X, y = load_digits(n_class=3, return_X_y=True)
    >>> y_noisy = SymmetricNoise(rate=0.4, random_state=0).fit_transform(y)
    >>> clf = PrestoppingClassifier(stop=NoiseRateStop(0.4), random_state=0)
    >>> clf = clf.fit(X / 16, y_noisy, y_true=y)
    >>> frame = SafeSetDisplay.from_estimator(clf).frame()

    The fraction of wrong labels in the safe set is far below the noise rate of 40 %:

    >>> bool(frame["memorization_precision"].iloc[-1] > 0.8)
    True
    """

    def __init__(self, records: Sequence[EpochRecord]) -> None:
        self.records = list(records)
        if not self._safe_epochs:
            raise ValueError(
                f"{type(self).__name__} needs records of phase II, which trains on the "
                "safe set, but there are none. Pass the history_ of a "
                "PrestoppingClassifier whose stop_epoch_ is smaller than max_epochs."
            )
        require_truth(self._safe_epochs, type(self).__name__)

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None) -> "SafeSetDisplay":
        """Plot the history of a fitted classifier with a stop point.

        Parameters
        ----------
        estimator : classifier
            A :class:`~skpresto.PrestoppingClassifier`,
            :class:`~skpresto.PrestoppingPlusClassifier` or
            :class:`~skpresto.CrossPrestoppingClassifier`, or a Pipeline or search
            with one, fitted with ``fit(X, y, y_true=...)``.
        ax : matplotlib axes, default=None
            Axes to plot on. If None, a new figure and axes are created.

        Returns
        -------
        display : SafeSetDisplay
            The plotted display.
        """
        estimator = classifier_with_stop_point(estimator, cls.__name__)
        return cls(estimator.history_).plot(ax)

    @property
    def _safe_epochs(self) -> list[EpochRecord]:
        return phase_two_of(self.records)

    def frame(self) -> Any:
        """Return the plotted data as a DataFrame, one row per epoch of phase II.

        ``safe_fraction`` is the fraction of all samples that are in the safe set.
        """
        epochs = self._safe_epochs
        curves = {field: values_of(epochs, field) for field, *_ in _CURVES}
        safe = values_of(epochs, "memorized_fraction")
        return frame_of_epochs(epochs, safe_fraction=safe, **curves)

    def plot(self, ax: Any = None) -> "SafeSetDisplay":
        """Plot both curves, with the values of the last epoch in the legend.

        Parameters
        ----------
        ax : matplotlib axes, default=None
            Axes to plot on. If None, a new figure and axes are created.

        Returns
        -------
        display : SafeSetDisplay
            This display.
        """
        ax = get_axes(self, ax)
        epochs = [record.epoch for record in self._safe_epochs]
        for field, name, color, dashes in _CURVES:
            values = values_of(self._safe_epochs, field)
            label = f"{name} ({values[-1]:.1%} in the last epoch)"
            ax.plot(epochs, values, dashes, color=color, lw=2, label=label)
        low, _ = ax.get_ylim()
        # The same scale for all plots, unless values are lower.
        ax.set(xlabel="epoch", ylabel="fraction of samples", ylim=(min(low, 0.5), 1.01))
        show_percent(ax.yaxis)
        ax.legend(fontsize="small", loc="lower right")
        return self
