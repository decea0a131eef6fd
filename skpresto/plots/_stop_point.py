"""Stop point of phase I and the quantities that the stop rule uses."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skpresto import stopping
from skpresto.plots._axes import COLORS, get_axes, legend_beside, show_percent
from skpresto.plots._records import (
    classifier_with_stop_point,
    discarded_of,
    extension_of,
    frame_of_epochs,
    path_of,
    phase_one_of,
    phase_two_of,
    values_of,
)
from skpresto.stopping import EpochRecord, StopRule

#: Column of ``frame()``: name in the legend, color and line style.
_CURVES = {
    "memorization_precision": ("memorization precision", COLORS["green"], "-"),
    "memorization_recall": ("memorization recall", COLORS["blue"], "-"),
    "train_error": ("training error", COLORS["black"], "-"),
    "memorized_fraction": ("memorized fraction", COLORS["sky"], "-"),
    "valid_error": ("validation error", COLORS["orange"], "-"),
    "holdout_error": ("held-out error", COLORS["red"], "--"),
    "holdout_accuracy": ("held-out accuracy", COLORS["red"], "-"),
    "changed_fraction": ("changed predictions", COLORS["purple"], "-"),
}
_MEMORIZATION = ("memorization_precision", "memorization_recall")

#: Curves that each rule uses.
_CURVES_OF_RULES: tuple[tuple[type[StopRule], tuple[str, ...]], ...] = (
    (stopping.ValidationStop, ("valid_error",)),
    (stopping.HoldoutStop, ("holdout_error",)),
    (stopping.NoiseRateStop, ("train_error",)),
    (stopping.MemorizedFractionStop, ("memorized_fraction",)),
    (stopping.AgreementStop, ("memorized_fraction", "holdout_accuracy")),
    (stopping.LabelWaveStop, ("changed_fraction",)),
    (stopping.OracleStop, ()),
)


class StopPointDisplay:
    """Curves used by the stop rule, the stop point, and phase II.

    Dotted lines show the epochs of phase I after the stop point, which were discarded;
    the other lines show phase I up to the stop point, followed by phase II.
    Memorization precision and recall are shown if ``y_true`` was passed to ``fit``; the
    ideal stop point is where they cross [1]_.

    Parameters
    ----------
    records : sequence of EpochRecord
        Records of a training, as in ``history_`` of a fitted classifier.
    stop_epoch : int
        The stop point: number of epochs of phase I that were kept.
    rule_name : str, default="stop point"
        Name of the stop rule in the legend.
    curves : sequence of str, default=None
        Curves to plot, as columns of :meth:`frame`. If None, all curves that were
        recorded.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
        Axes and figure of the last plot.

    See Also
    --------
    SafeSetDisplay : Precision and recall of the safe set in phase II.

    Notes
    -----
    For :class:`~skpresto.CrossPrestoppingClassifier`, phase I is that of the network
    that searched for the stop point, followed by the extension of phase I if there
    was one, and phase II is that of the fold networks. After a fallback, both phases
    are those of the fallback.

    References
    ----------
    .. [1] H. Song, M. Kim, D. Park, J.-G. Lee, "How does early stopping help
       generalization against label noise?", arXiv:1911.08059, 2019. Figure 3.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from skpresto import PrestoppingClassifier
    >>> from skpresto.plots import StopPointDisplay
    >>> from skpresto.stopping import LabelWaveStop
    >>> X, y = load_digits(n_class=3, return_X_y=True)
    >>> clf = PrestoppingClassifier(stop=LabelWaveStop(), random_state=0)
    >>> display = StopPointDisplay.from_estimator(clf.fit(X, y))
    >>> display.frame()["stage"].unique().tolist()
    ['phase 1', 'phase 2']
    """

    def __init__(
        self,
        records: Sequence[EpochRecord],
        stop_epoch: int,
        rule_name: str = "stop point",
        curves: Sequence[str] | None = None,
    ) -> None:
        self.records = list(records)
        self.stop_epoch = stop_epoch
        self.rule_name = rule_name
        self.curves = curves
        unknown = [name for name in curves or () if name not in _CURVES]
        if unknown:
            raise ValueError(
                f"{type(self).__name__} has no curves named {unknown!r}. Choose from "
                f"{list(_CURVES)!r}, or pass curves=None for all."
            )

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, curves: Sequence[str] | None = None, ax: Any = None
    ) -> "StopPointDisplay":
        """Plot the history of a fitted classifier with a stop point.

        Parameters
        ----------
        estimator : classifier
            A fitted :class:`~skpresto.PrestoppingClassifier`,
            :class:`~skpresto.PrestoppingPlusClassifier` or
            :class:`~skpresto.CrossPrestoppingClassifier`, or a Pipeline or search
            with one.
        curves : sequence of str, default=None
            Curves to plot, as columns of :meth:`frame`. If None, those that the stop
            rule uses and memorization precision and recall; for a custom stop rule,
            all curves.
        ax : matplotlib axes, default=None
            Axes to plot on. If None, a new figure and axes are created.

        Returns
        -------
        display : StopPointDisplay
            The plotted display.
        """
        estimator = classifier_with_stop_point(estimator, cls.__name__)
        rule = estimator.stop_rule_
        if curves is None:
            curves = _curves_for(rule)
        name = "stop point" if rule is None else type(rule).__name__
        return cls(estimator.history_, estimator.stop_epoch_, name, curves).plot(ax)

    def frame(self) -> Any:
        """Return all epochs of phases I and II as a DataFrame, one row per epoch.

        Discarded epochs of phase I are included. Their epoch numbers therefore occur
        twice, with different stages.
        """
        records = phase_one_of(self.records)
        records += extension_of(self.records, self.stop_epoch)
        records += phase_two_of(self.records)
        curves = {name: _curve(records, name) for name in _CURVES}
        return frame_of_epochs(records, **curves)

    def plot(self, ax: Any = None) -> "StopPointDisplay":
        """Plot the curves and the stop point.

        Parameters
        ----------
        ax : matplotlib axes, default=None
            Axes to plot on. If None, a new figure and axes are created.

        Returns
        -------
        display : StopPointDisplay
            This display.
        """
        ax = get_axes(self, ax)
        path = path_of(self.records, self.stop_epoch)
        discarded = discarded_of(self.records, self.stop_epoch)
        # The dotted lines start at the stop point.
        at_stop = [record for record in path if record.epoch == self.stop_epoch]
        for name in _CURVES if self.curves is None else self.curves:
            label, color, dashes = _CURVES[name]
            _draw(ax, path, name, color=color, ls=dashes, lw=2, label=label)
            _draw(ax, at_stop + discarded, name, color=color, lw=1.5, ls=":")
        if discarded:
            ax.plot([], [], color="gray", lw=1.5, ls=":", label="discarded epochs")
        label = f"{self.rule_name}: epoch {self.stop_epoch}"
        ax.axvline(self.stop_epoch, color="gray", lw=4, alpha=0.6, label=label)
        ax.set(xlabel="epoch", ylabel="fraction of samples", ylim=(-0.02, 1.02))
        show_percent(ax.yaxis)
        legend_beside(ax)
        return self


def _curves_for(rule: StopRule | None) -> tuple[str, ...] | None:
    for kind, names in _CURVES_OF_RULES:
        if isinstance(rule, kind):
            return (*_MEMORIZATION, *names)
    return None


def _curve(records: Sequence[EpochRecord], name: str) -> NDArray[np.float64]:
    if name == "holdout_accuracy":
        return 1 - values_of(records, "holdout_error")
    return values_of(records, name)


def _draw(ax: Any, records: Sequence[EpochRecord], name: str, **style: Any) -> None:
    values = _curve(records, name)
    is_recorded = ~np.isnan(values)
    if is_recorded.any():
        ax.plot(values_of(records, "epoch")[is_recorded], values[is_recorded], **style)
