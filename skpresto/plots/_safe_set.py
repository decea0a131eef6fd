"""How clean and how complete the safe set is."""

from collections.abc import Sequence
from typing import Any

from sklearn.utils.validation import check_is_fitted

from skpresto.plots._axes import COLORS, frame_of, get_axes, show_percent
from skpresto.plots._records import phase_two_of, require_truth, values_of
from skpresto.stopping import EpochRecord

#: Field of a record, its name in the legend, its colour, its dashes.
_CURVES = (
    ("memorization_precision", "precision", COLORS["green"], "-"),
    ("memorization_recall", "recall", COLORS["blue"], "--"),
)


class SafeSetDisplay:
    """Precision and recall of the safe set over the epochs of phase II.

    Precision is the share of the safe set that is labelled correctly, recall the share
    of the correctly labelled samples that are in it. Both should rise at first and
    stay: then phase II learns from nearly all true labels and hardly any false one
    [1]_.

    Parameters
    ----------
    records : sequence of EpochRecord
        One an epoch and phase, as in ``history_`` of a classifier whose ``fit`` was
        given ``y_true``. Phases other than the second are kept, but not drawn.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
        What was drawn on last.

    See Also
    --------
    MemorizationDisplay : The labels memorized, from the first epoch on.

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

    The safe set holds far fewer false labels than the 40 % in the data:

    >>> bool(frame["memorization_precision"].iloc[-1] > 0.8)
    True
    """

    def __init__(self, records: Sequence[EpochRecord]) -> None:
        self.records = list(records)
        if not self._safe_epochs:
            raise ValueError(
                f"{type(self).__name__} needs records of phase II, in which a network "
                "learns from its safe set, but there are none. Pass the history_ of a "
                "PrestoppingClassifier whose stop_epoch_ is smaller than max_epochs."
            )
        require_truth(self._safe_epochs, type(self).__name__)

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None) -> "SafeSetDisplay":
        """Draw the history of a fitted classifier that has a safe set.

        Parameters
        ----------
        estimator : PrestoppingClassifier or PrestoppingPlusClassifier
            Fitted with ``fit(X, y, y_true=...)``.
        ax : matplotlib axes, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        display : SafeSetDisplay
            The display, drawn.
        """
        check_is_fitted(estimator, "history_")
        if not hasattr(estimator, "stop_epoch_"):
            raise ValueError(
                f"{cls.__name__} needs a classifier that stops and goes on with a safe "
                f"set, but {type(estimator).__name__} has no stop point. Pass a fitted "
                "PrestoppingClassifier, or use MemorizationDisplay."
            )
        return cls(estimator.history_).plot(ax)

    @property
    def _safe_epochs(self) -> list[EpochRecord]:
        return phase_two_of(self.records)

    def frame(self) -> Any:
        """Return the numbers behind the plot, a row an epoch of phase II.

        ``safe_fraction`` is the share of all samples that are in the safe set.
        """
        epochs = self._safe_epochs
        return frame_of(
            {
                "epoch": [record.epoch for record in epochs],
                "safe_fraction": values_of(epochs, "memorized_fraction"),
                **{field: values_of(epochs, field) for field, *_ in _CURVES},
            }
        )

    def plot(self, ax: Any = None) -> "SafeSetDisplay":
        """Draw both curves, with their last values in the legend.

        Parameters
        ----------
        ax : matplotlib axes, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        display : SafeSetDisplay
            This display.
        """
        ax = get_axes(self, ax)
        epochs = [record.epoch for record in self._safe_epochs]
        for field, name, color, dashes in _CURVES:
            values = values_of(self._safe_epochs, field)
            label = f"{name}, {values[-1]:.1%} at the end"
            ax.plot(epochs, values, dashes, color=color, lw=2, label=label)
        low, _ = ax.get_ylim()
        # A common scale for panels side by side, opened only where it must be.
        ax.set(xlabel="epoch", ylabel="share of samples", ylim=(min(low, 0.5), 1.01))
        show_percent(ax.yaxis)
        ax.legend(fontsize="small", loc="lower right")
        return self
