"""Where phase I stopped, and why."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from skpresto.plots._axes import COLORS, frame_of, get_axes, legend_beside, show_percent
from skpresto.plots._records import (
    path_of,
    phase_one_of,
    phase_two_of,
    undone_of,
    values_of,
    waited_of,
)
from skpresto.stopping import (
    AgreementStop,
    EpochRecord,
    HoldoutStop,
    LabelWaveStop,
    MemorizedFractionStop,
    NoiseRateStop,
    OracleStop,
    StopRule,
    ValidationStop,
)

#: Name of a curve, its name in the legend, its colour.
_CURVES = {
    "memorization_precision": ("memorization precision", COLORS["green"]),
    "memorization_recall": ("memorization recall", COLORS["blue"]),
    "train_error": ("training error", COLORS["black"]),
    "memorized_fraction": ("memorized share", COLORS["sky"]),
    "valid_error": ("validation error", COLORS["orange"]),
    "holdout_error": ("held-out error", COLORS["orange"]),
    "holdout_accuracy": ("held-out accuracy", COLORS["orange"]),
    "changed_fraction": ("changed predictions", COLORS["purple"]),
}
_MEMORIZATION = ("memorization_precision", "memorization_recall")

#: What each rule looks at.
_SIGNALS: tuple[tuple[type[StopRule], tuple[str, ...]], ...] = (
    (ValidationStop, ("valid_error",)),
    (HoldoutStop, ("holdout_error",)),
    (NoiseRateStop, ("train_error",)),
    (MemorizedFractionStop, ("memorized_fraction",)),
    (AgreementStop, ("memorized_fraction", "holdout_accuracy")),
    (LabelWaveStop, ("changed_fraction",)),
    (OracleStop, ()),
)


class StopPointDisplay:
    """What the stop rule looked at, the stop point, and how phase II goes on.

    Full lines are the way of the network: phase I up to the stop point and phase II.
    Dotted lines are the epochs beyond the stop point that were tried and undone.
    Memorization precision and recall, which cross where one would ideally stop [1]_,
    are drawn if ``fit`` was given ``y_true``.

    Parameters
    ----------
    records : sequence of EpochRecord
        One an epoch and phase, as in ``history_``.
    stop_epoch : int
        Number of epochs of phase I that were kept.
    rule_name : str, default="stop"
        What to call the rule in the legend.
    curves : sequence of str, default=None
        What to draw: columns of :meth:`frame`. None means all that were recorded.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
        What was drawn on last.

    See Also
    --------
    SafeSetDisplay : Precision and recall of the safe set in phase II alone.

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
    >>> display.frame()["phase"].unique().tolist()
    [1, 2]
    """

    def __init__(
        self,
        records: Sequence[EpochRecord],
        stop_epoch: int,
        rule_name: str = "stop",
        curves: Sequence[str] | None = None,
    ) -> None:
        self.records = list(records)
        self.stop_epoch = stop_epoch
        self.rule_name = rule_name
        self.curves = curves
        unknown = [name for name in curves or () if name not in _CURVES]
        if unknown:
            raise ValueError(
                f"{type(self).__name__} cannot draw curves={unknown!r}; choose from "
                f"{list(_CURVES)!r}, or None for all."
            )

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, curves: Sequence[str] | None = None, ax: Any = None
    ) -> "StopPointDisplay":
        """Draw the history of a fitted classifier that has a stop point.

        Parameters
        ----------
        estimator : PrestoppingClassifier or PrestoppingPlusClassifier
            A fitted classifier.
        curves : sequence of str, default=None
            What to draw: columns of :meth:`frame`. None means what the stop rule looks
            at, and memorization precision and recall; for a rule of one's own, all.
        ax : matplotlib axes, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        display : StopPointDisplay
            The display, drawn.
        """
        check_is_fitted(estimator, "stop_epoch_")
        rule = estimator.stop_rule_
        if curves is None:
            curves = _curves_for(rule)
        name = type(rule).__name__
        return cls(estimator.history_, estimator.stop_epoch_, name, curves).plot(ax)

    def frame(self) -> Any:
        """Return the numbers of phases I and II, a row an epoch and phase.

        Where judges of Prestopping+ had to wait after the stop point, those epochs of
        phase I come twice: as the stop point was sought, and as they were gone through.
        """
        records = phase_one_of(self.records)
        records += waited_of(self.records, self.stop_epoch)
        records += phase_two_of(self.records)
        curves = {name: _curve(records, name) for name in _CURVES}
        return frame_of(
            {
                "epoch": [record.epoch for record in records],
                "phase": [record.phase for record in records],
                **curves,
            }
        )

    def plot(self, ax: Any = None) -> "StopPointDisplay":
        """Draw the curves and the stop point.

        Parameters
        ----------
        ax : matplotlib axes, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        display : StopPointDisplay
            This display.
        """
        ax = get_axes(self, ax)
        path = path_of(self.records, self.stop_epoch)
        undone = undone_of(self.records, self.stop_epoch)
        # The undone epochs branch off at the stop point.
        at_stop = [r for r in path if r.phase == 1 and r.epoch == self.stop_epoch]
        for name in _CURVES if self.curves is None else self.curves:
            label, color = _CURVES[name]
            _draw(ax, path, name, color=color, lw=2, label=label)
            _draw(ax, at_stop + undone, name, color=color, lw=1.5, ls=":")
        if undone:
            ax.plot([], [], color="gray", lw=1.5, ls=":", label="epochs undone")
        label = f"{self.rule_name}: epoch {self.stop_epoch}"
        ax.axvline(self.stop_epoch, color=COLORS["red"], lw=2, label=label)
        ax.set(xlabel="epoch", ylabel="share of samples", ylim=(-0.02, 1.02))
        show_percent(ax.yaxis)
        legend_beside(ax)
        return self


def _curves_for(rule: StopRule) -> tuple[str, ...] | None:
    for kind, signals in _SIGNALS:
        if isinstance(rule, kind):
            return (*_MEMORIZATION, *signals)
    return None


def _curve(records: Sequence[EpochRecord], name: str) -> NDArray[np.float64]:
    if name == "holdout_accuracy":
        return 1 - values_of(records, "holdout_error")
    return values_of(records, name)


def _draw(ax: Any, records: Sequence[EpochRecord], name: str, **style: Any) -> None:
    values = _curve(records, name)
    is_known = ~np.isnan(values)
    if is_known.any():
        ax.plot(values_of(records, "epoch")[is_known], values[is_known], **style)
