"""Where phase I stopped, and why."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from sklearn.utils.validation import check_is_fitted

from skpresto.plots._axes import COLORS, frame_of, get_axes
from skpresto.stopping import EpochRecord

#: Field of a record, its name in the legend, its colour.
_CURVES = (
    ("train_error", "training error", COLORS["black"]),
    ("memorized_fraction", "memorized share", COLORS["sky"]),
    ("valid_error", "validation error", COLORS["orange"]),
    ("holdout_error", "held-out error", COLORS["orange"]),
    ("changed_fraction", "changed predictions", COLORS["purple"]),
    ("memorization_precision", "memorization precision", COLORS["green"]),
    ("memorization_recall", "memorization recall", COLORS["blue"]),
)


class StopPointDisplay:
    """Curves of phase I, the stop point, and how phase II goes on from there.

    Full lines are phase I, including the epochs beyond the stop point that were
    undone; dashed lines are phase II. Memorization precision and recall are drawn if
    ``fit`` was given ``y_true``.

    Parameters
    ----------
    records : sequence of EpochRecord
        One an epoch and phase, as in ``history_``.
    stop_epoch : int
        Number of epochs of phase I that were kept.
    rule_name : str, default="stop"
        What to call the rule in the legend.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
        What was drawn on last.

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
    ) -> None:
        self.records = list(records)
        self.stop_epoch = stop_epoch
        self.rule_name = rule_name

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None) -> "StopPointDisplay":
        """Draw the history of a fitted classifier that has a stop point.

        Parameters
        ----------
        estimator : PrestoppingClassifier
            A fitted classifier.
        ax : matplotlib axes, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        display : StopPointDisplay
            The display, drawn.
        """
        check_is_fitted(estimator, "stop_epoch_")
        rule_name = type(estimator.stop_rule_).__name__
        return cls(estimator.history_, estimator.stop_epoch_, rule_name).plot(ax)

    def frame(self) -> Any:
        """Return the numbers behind the plot, a row an epoch and phase."""
        fields = ("epoch", "phase", *(name for name, _, _ in _CURVES))
        rows = [asdict(record) for record in self.records]
        return frame_of({field: [row[field] for row in rows] for field in fields})

    def plot(self, ax: Any = None) -> "StopPointDisplay":
        """Draw the curves.

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
        for field, label, color in _CURVES:
            for phase, style in ((1, "-"), (2, "--")):
                epochs, values = self._curve(field, phase)
                if epochs:
                    # Phase II repeats the colour, not the entry in the legend.
                    name = label if phase == 1 else None
                    ax.plot(epochs, values, style, color=color, label=name, lw=1.5)
        ax.axvline(
            self.stop_epoch,
            color=COLORS["red"],
            lw=2,
            label=f"{self.rule_name}: epoch {self.stop_epoch}",
        )
        ax.set(xlabel="epoch", ylabel="share of samples", ylim=(-0.02, 1.02))
        ax.set_title("Full lines: phase I, dashed lines: phase II", fontsize="medium")
        ax.legend(fontsize="small", loc="center left", bbox_to_anchor=(1.01, 0.5))
        return self

    def _curve(self, field: str, phase: int) -> tuple[list[int], list[float]]:
        points = [
            (record.epoch, getattr(record, field))
            for record in self.records
            if record.phase == phase and getattr(record, field) is not None
        ]
        return [epoch for epoch, _ in points], [value for _, value in points]
