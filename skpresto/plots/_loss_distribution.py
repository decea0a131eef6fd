"""Loss distributions of correctly and wrongly labeled samples."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array, check_consistent_length, column_or_1d
from sklearn.utils.validation import check_is_fitted

from skpresto.plots._axes import COLORS, frame_of, get_axes, show_percent

#: Lower bound of probabilities, which keeps the loss finite: the float32 epsilon.
_LOWEST_PROBABILITY = float(np.finfo(np.float32).eps)


class LossDistributionDisplay:
    """Loss distributions of correctly and of wrongly labeled samples.

    The loss of a sample is the negative logarithm of the predicted probability of its
    given label. Methods that select samples with a small loss work well only if the
    two distributions are separated. They are separated under symmetric noise and
    overlap under pair noise, where one class is mistaken for another [1]_.

    Parameters
    ----------
    losses : array-like of shape (n_samples,)
        Loss of each sample for its given label.
    is_true : array-like of shape (n_samples,), dtype=bool
        Whether the given label of each sample is its true label.
    bins : int, default=40
        Number of histogram bins over the whole range of losses.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
        Axes and figure of the last plot.

    See Also
    --------
    MemorizationDisplay : Memorized labels per epoch.

    References
    ----------
    .. [1] H. Song, M. Kim, D. Park, J.-G. Lee, "How does early stopping help
       generalization against label noise?", arXiv:1911.08059, 2019. Figure 1.

    Examples
    --------
    >>> import numpy as np
    >>> from skpresto.plots import LossDistributionDisplay
    >>> proba = np.array([[0.9, 0.1], [0.8, 0.2], [0.7, 0.3]])
    >>> display = LossDistributionDisplay.from_predictions(
    ...     ["cat", "cat", "dog"], ["cat", "cat", "cat"], proba, ["cat", "dog"]
    ... )
    >>> display.frame().groupby("is_true")["loss"].mean().round(1).to_dict()
    {False: 1.2, True: 0.2}
    """

    def __init__(self, losses: ArrayLike, is_true: ArrayLike, bins: int = 40) -> None:
        self.losses = np.array(losses, dtype=np.float64)
        self.is_true = np.array(is_true, dtype=bool)
        self.bins = bins
        check_consistent_length(self.losses, self.is_true)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        y_true: ArrayLike,
        *,
        bins: int = 40,
        ax: Any = None,
    ) -> "LossDistributionDisplay":
        """Plot the losses of a fitted classifier.

        Parameters
        ----------
        estimator : classifier
            Any fitted classifier with ``predict_proba``.
        X : array-like
            The samples, usually the training data.
        y : array-like of shape (n_samples,)
            Given labels, some of which are wrong.
        y_true : array-like of shape (n_samples,)
            True labels.
        bins : int, default=40
            Number of histogram bins over the whole range of losses.
        ax : matplotlib axes, default=None
            Axes to plot on. If None, a new figure and axes are created.

        Returns
        -------
        display : LossDistributionDisplay
            The plotted display.
        """
        check_is_fitted(estimator, "classes_")
        proba = estimator.predict_proba(X)
        return cls.from_predictions(
            y, y_true, proba, estimator.classes_, bins=bins, ax=ax
        )

    @classmethod
    def from_predictions(
        cls,
        y: ArrayLike,
        y_true: ArrayLike,
        proba: ArrayLike,
        classes: ArrayLike,
        *,
        bins: int = 40,
        ax: Any = None,
    ) -> "LossDistributionDisplay":
        """Plot the losses computed from predicted probabilities.

        Parameters
        ----------
        y : array-like of shape (n_samples,)
            Given labels, some of which are wrong.
        y_true : array-like of shape (n_samples,)
            True labels.
        proba : array-like of shape (n_samples, n_classes)
            Predicted probabilities.
        classes : array-like of shape (n_classes,)
            Classes in the order of the columns of ``proba``.
        bins : int, default=40
            Number of histogram bins over the whole range of losses.
        ax : matplotlib axes, default=None
            Axes to plot on. If None, a new figure and axes are created.

        Returns
        -------
        display : LossDistributionDisplay
            The plotted display.
        """
        given, true = column_or_1d(y), column_or_1d(y_true)
        check_consistent_length(given, true)
        losses = _losses_of(given, np.asarray(proba), column_or_1d(classes))
        return cls(losses, given == true, bins).plot(ax)

    def frame(self) -> Any:
        """Return the plotted data as a DataFrame, one row per sample."""
        return frame_of({"loss": self.losses, "is_true": self.is_true})

    def plot(self, ax: Any = None) -> "LossDistributionDisplay":
        """Plot both distributions as histograms, each normalized to a sum of 1.

        Parameters
        ----------
        ax : matplotlib axes, default=None
            Axes to plot on. If None, a new figure and axes are created.

        Returns
        -------
        display : LossDistributionDisplay
            This display.
        """
        ax = get_axes(self, ax)
        edges = np.histogram_bin_edges(self.losses, self.bins)
        for is_true, name, color, hatch in (
            (True, "correct", COLORS["blue"], None),
            (False, "wrong", COLORS["red"], "///"),
        ):
            losses = self.losses[self.is_true == is_true]
            ax.hist(
                losses,
                edges,
                # Normalized, since there may be far fewer wrong than correct labels.
                weights=np.full(len(losses), 1 / max(1, len(losses))),
                histtype="stepfilled",
                facecolor=(color, 0.35),
                edgecolor=color,
                hatch=hatch,
                label=f"{name} labels ({len(losses)} samples)",
            )
        ax.set(xlabel="loss of the given label", ylabel="fraction of samples per group")
        # Room for the legend above the highest bar, but no ticks above 100 %.
        top = 1.3 * ax.get_ylim()[1]
        ax.set_yticks([tick for tick in ax.get_yticks() if 0 <= tick <= min(top, 1)])
        ax.set_ylim(0, top)
        show_percent(ax.yaxis)
        ax.legend(fontsize="small", loc="upper right")
        return self


def _losses_of(
    given: NDArray[Any], proba: NDArray[Any], classes: NDArray[Any]
) -> NDArray[np.float64]:
    owner = LossDistributionDisplay.__name__
    proba = check_array(proba, input_name="proba", dtype=np.float64)
    check_consistent_length(given, proba)
    if proba.shape[1] != len(classes):
        raise ValueError(
            f"{owner} needs one column of proba for each of {len(classes)} classes, "
            f"but got {proba.shape[1]} columns. Pass classes=estimator.classes_."
        )
    column_of = {label: column for column, label in enumerate(classes.tolist())}
    unknown = sorted(set(given.tolist()) - set(column_of), key=str)
    if unknown:
        raise ValueError(
            f"{owner} needs labels that are among the classes, but y contains "
            f"{unknown!r}. Pass the labels that the classifier was trained on."
        )
    columns = [column_of[label] for label in given.tolist()]
    of_given = proba[np.arange(len(given)), columns]
    return -np.log(np.clip(of_given, _LOWEST_PROBABILITY, 1))
