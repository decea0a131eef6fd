"""Fraction of correct and wrong labels memorized at each epoch."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skpresto.plots._axes import COLORS, get_axes, legend_beside, show_percent
from skpresto.plots._records import (
    classifier_with_history,
    frame_of_epochs,
    path_of,
    require_truth,
    values_of,
)
from skpresto.stopping import EpochRecord


class MemorizationDisplay:
    """Stacked areas of the correct and the wrong labels memorized at each epoch.

    A given label is memorized if it is the class predicted most often in the last q
    visits of its sample. Standard training memorizes correct labels first and wrong
    labels later. Training that stops in between and continues on the safe set keeps
    the upper, hatched area small [1]_.

    Parameters
    ----------
    records : sequence of EpochRecord
        Records of a training with ``y_true``, as in ``history_`` of a fitted
        classifier.
    stop_epoch : int, default=None
        The stop point. Phase I is shown up to the stop point, followed by phase II.
        If None, the records of the last stage are shown.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
        Axes and figure of the last plot.

    See Also
    --------
    SafeSetDisplay : Precision and recall of the safe set.

    Notes
    -----
    Of the memorized labels, the fraction given by the memorization precision is
    correct; the rest is wrong.

    For :class:`~skpresto.CrossPrestoppingClassifier`, phase I is that of the network
    that searched for the stop point, followed by the extension of phase I if there
    was one, and phase II is that of the fold networks, where a label counts as
    memorized if it is accepted. After a fallback, both phases are those of the
    fallback.

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

    Standard training memorizes wrong labels in later epochs:

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
        """Plot the history of a fitted classifier.

        Parameters
        ----------
        estimator : classifier
            Any classifier of skpresto, or a Pipeline or search with one, fitted with
            ``fit(X, y, y_true=...)``.
        ax : matplotlib axes, default=None
            Axes to plot on. If None, a new figure and axes are created.

        Returns
        -------
        display : MemorizationDisplay
            The plotted display.
        """
        estimator = classifier_with_history(estimator, cls.__name__)
        stop_epoch = getattr(estimator, "stop_epoch_", None)
        return cls(estimator.history_, stop_epoch).plot(ax)

    @property
    def _path(self) -> list[EpochRecord]:
        return path_of(self.records, self.stop_epoch)

    def _memorized(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        memorized = values_of(self._path, "memorized_fraction")
        precision = values_of(self._path, "memorization_precision")
        # The precision is nan if nothing is memorized.
        true = np.where(memorized > 0, precision, 0) * memorized
        return true, memorized - true

    def frame(self) -> Any:
        """Return the plotted data as a DataFrame, one row per epoch.

        ``true_memorized`` and ``false_memorized`` are the fractions of the visited
        samples whose label is memorized and correct, or memorized and wrong. Rows held
        out of phase I are not visited in phase I.
        """
        true, false = self._memorized()
        return frame_of_epochs(self._path, true_memorized=true, false_memorized=false)

    def plot(self, ax: Any = None) -> "MemorizationDisplay":
        """Plot the two areas, the fraction of correct labels and the stop point.

        Parameters
        ----------
        ax : matplotlib axes, default=None
            Axes to plot on. If None, a new figure and axes are created.

        Returns
        -------
        display : MemorizationDisplay
            This display.
        """
        ax = get_axes(self, ax)
        epochs = [record.epoch for record in self._path]
        true, false = self._memorized()
        for low, high, name, color, hatch in (
            (np.zeros_like(true), true, "correct", COLORS["blue"], None),
            (true, true + false, "wrong", COLORS["red"], "///"),
        ):
            style = {"facecolor": (color, 0.45), "edgecolor": color, "hatch": hatch}
            label = f"{name} labels memorized"
            ax.fill_between(epochs, low, high, label=label, **style)
        fraction = self._fraction_of_correct_labels()
        if fraction is not None:
            name = f"all correct labels ({fraction:.0%})"
            ax.axhline(fraction, color=COLORS["black"], ls=":", lw=1.5, label=name)
        if self.stop_epoch is not None:
            name = f"stop point: epoch {self.stop_epoch}"
            ax.axvline(self.stop_epoch, color=COLORS["black"], lw=2, label=name)
        ax.set(xlabel="epoch", ylabel="fraction of training samples", ylim=(0, 1))
        ax.set_xlim(min(epochs), max(max(epochs), min(epochs) + 1))
        show_percent(ax.yaxis)
        legend_beside(ax)
        return self

    def _fraction_of_correct_labels(self) -> float | None:
        """Return the memorized correct labels of the last epoch divided by recall."""
        true, _ = self._memorized()
        recall = values_of(self._path, "memorization_recall")
        known = np.flatnonzero(recall > 0)
        return float(true[known[-1]] / recall[known[-1]]) if len(known) else None
