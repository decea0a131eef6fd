"""When labels are memorized, the true ones and the false ones."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from skpresto.plots._axes import COLORS, frame_of, get_axes, legend_beside, show_percent
from skpresto.plots._records import path_of, require_truth, values_of
from skpresto.stopping import EpochRecord


class MemorizationDisplay:
    """True and false labels memorized over the epochs, one upon the other.

    A label is memorized if it is the class that was predicted most often in the last
    visits of its sample. Plain training memorizes the true labels first and the false
    ones later; a training that stops in between and goes on safely keeps the upper,
    hatched area small [1]_.

    Parameters
    ----------
    records : sequence of EpochRecord
        One an epoch and phase, as in ``history_`` of a classifier whose ``fit`` was
        given ``y_true``.
    stop_epoch : int, default=None
        Number of epochs of phase I that were kept; the epochs beyond are left out.
        None means that there was no stop point: the last phase is drawn.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
        What was drawn on last.

    See Also
    --------
    SafeSetDisplay : How clean and how complete the safe set is.

    Notes
    -----
    With memorization precision MP, a share MP of the memorized labels is true and a
    share 1 - MP is false.

    References
    ----------
    .. [1] H. Song, M. Kim, D. Park, J.-G. Lee, "How does early stopping help
       generalization against label noise?", arXiv:1911.08059, 2019. Figure 2.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from skpresto import DefaultClassifier
    >>> from skpresto.noise import PairNoise
    >>> from skpresto.plots import MemorizationDisplay
    >>> X, y = load_digits(n_class=3, return_X_y=True)
    >>> y_noisy = PairNoise(rate=0.4, random_state=0).fit_transform(y)
    >>> clf = DefaultClassifier(random_state=0).fit(X / 16, y_noisy, y_true=y)
    >>> frame = MemorizationDisplay.from_estimator(clf).frame()

    Without any defence the false labels are memorized in the end:

    >>> bool(frame["false_memorized"].iloc[-1] > 2 * frame["false_memorized"].iloc[2])
    True
    """

    def __init__(
        self, records: Sequence[EpochRecord], stop_epoch: int | None = None
    ) -> None:
        self.records = list(records)
        self.stop_epoch = stop_epoch
        require_truth(self._path, type(self).__name__)

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None) -> "MemorizationDisplay":
        """Draw the history of a fitted classifier.

        Parameters
        ----------
        estimator : classifier
            Any of ours, fitted with ``fit(X, y, y_true=...)``.
        ax : matplotlib axes, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        display : MemorizationDisplay
            The display, drawn.
        """
        check_is_fitted(estimator, "history_")
        stop_epoch = getattr(estimator, "stop_epoch_", None)
        return cls(estimator.history_, stop_epoch).plot(ax)

    @property
    def _path(self) -> list[EpochRecord]:
        return path_of(self.records, self.stop_epoch)

    def _memorized(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        memorized = values_of(self._path, "memorized_fraction")
        precision = values_of(self._path, "memorization_precision")
        # Where nothing is memorized, there is no precision, and nothing true or false.
        true = np.where(memorized > 0, precision, 0) * memorized
        return true, memorized - true

    def frame(self) -> Any:
        """Return the numbers behind the plot, a row an epoch.

        ``true_memorized`` and ``false_memorized`` are shares of the samples trained
        on: the rows held out of phase I are not among them.
        """
        true, false = self._memorized()
        return frame_of(
            {
                "epoch": [record.epoch for record in self._path],
                "phase": [record.phase for record in self._path],
                "true_memorized": true,
                "false_memorized": false,
            }
        )

    def plot(self, ax: Any = None) -> "MemorizationDisplay":
        """Draw the two areas, the share of true labels, and the stop point.

        Parameters
        ----------
        ax : matplotlib axes, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        display : MemorizationDisplay
            This display.
        """
        ax = get_axes(self, ax)
        epochs = [record.epoch for record in self._path]
        true, false = self._memorized()
        self._fill(ax, epochs, np.zeros_like(true), true, "true", COLORS["blue"])
        self._fill(ax, epochs, true, true + false, "false", COLORS["red"], "///")
        share = self._share_of_true_labels()
        if share is not None:
            name = f"all true labels ({share:.0%})"
            ax.axhline(share, color=COLORS["black"], ls=":", lw=1.5, label=name)
        if self.stop_epoch is not None:
            name = f"stop point: epoch {self.stop_epoch}"
            ax.axvline(self.stop_epoch, color=COLORS["black"], lw=2, label=name)
        ax.set(xlabel="epoch", ylabel="share of training samples", ylim=(0, 1))
        ax.set_xlim(min(epochs), max(max(epochs), min(epochs) + 1))
        show_percent(ax.yaxis)
        legend_beside(ax)
        return self

    @staticmethod
    def _fill(
        ax: Any,
        epochs: Any,
        low: Any,
        high: Any,
        name: str,
        color: str,
        hatch: Any = None,
    ) -> None:
        ax.fill_between(
            epochs,
            low,
            high,
            facecolor=(color, 0.45),
            edgecolor=color,
            hatch=hatch,
            label=f"{name} labels memorized",
        )

    def _share_of_true_labels(self) -> float | None:
        """Return it as the last epoch tells it: true memorized divided by recall."""
        true, _ = self._memorized()
        recall = values_of(self._path, "memorization_recall")
        known = np.flatnonzero(recall > 0)
        return float(true[known[-1]] / recall[known[-1]]) if len(known) else None
