"""Whether the loss tells false labels from true ones."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array, check_consistent_length, column_or_1d
from sklearn.utils.validation import check_is_fitted

from skpresto.plots._axes import COLORS, frame_of, get_axes, show_percent

#: Probabilities below this count as this: what float32 can tell from 0 beside 1.
_LOWEST_PROBABILITY = float(np.finfo(np.float32).eps)


class LossDistributionDisplay:
    """Distributions of the loss of truly and of falsely labelled samples.

    The loss of a sample is minus the logarithm of the probability that the network
    gives to its label. Methods that trust samples of small loss work as far as the two
    distributions lie apart: they do with random noise, and overlap where one class is
    mistaken for another [1]_.

    Parameters
    ----------
    losses : array-like of shape (n_samples,)
        Loss of each sample under its label as given.
    is_true : array-like of shape (n_samples,), dtype=bool
        Which labels are the true ones.
    bins : int, default=40
        Number of bars over the whole range.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
        What was drawn on last.

    See Also
    --------
    MemorizationDisplay : When labels are memorized.

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
        """Draw the losses of a fitted classifier.

        Parameters
        ----------
        estimator : classifier
            Anything fitted that has ``predict_proba``.
        X : array-like
            The samples, usually those trained on.
        y : array-like of shape (n_samples,)
            Their labels as given, some of them wrong.
        y_true : array-like of shape (n_samples,)
            Their true labels.
        bins : int, default=40
            Number of bars over the whole range.
        ax : matplotlib axes, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        display : LossDistributionDisplay
            The display, drawn.
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
        """Draw the losses that predicted probabilities amount to.

        Parameters
        ----------
        y : array-like of shape (n_samples,)
            Labels as given, some of them wrong.
        y_true : array-like of shape (n_samples,)
            True labels.
        proba : array-like of shape (n_samples, n_classes)
            Predicted probabilities.
        classes : array-like of shape (n_classes,)
            The class of each column of ``proba``.
        bins : int, default=40
            Number of bars over the whole range.
        ax : matplotlib axes, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        display : LossDistributionDisplay
            The display, drawn.
        """
        given, true = column_or_1d(y), column_or_1d(y_true)
        check_consistent_length(given, true)
        losses = _losses_of(given, np.asarray(proba), column_or_1d(classes))
        return cls(losses, given == true, bins).plot(ax)

    def frame(self) -> Any:
        """Return the numbers behind the plot, a row a sample."""
        return frame_of({"loss": self.losses, "is_true": self.is_true})

    def plot(self, ax: Any = None) -> "LossDistributionDisplay":
        """Draw both distributions, each as shares of its own samples.

        Parameters
        ----------
        ax : matplotlib axes, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        display : LossDistributionDisplay
            This display.
        """
        ax = get_axes(self, ax)
        edges = np.histogram_bin_edges(self.losses, self.bins)
        for is_true, name, color, hatch in (
            (True, "true", COLORS["blue"], None),
            (False, "false", COLORS["red"], "///"),
        ):
            losses = self.losses[self.is_true == is_true]
            ax.hist(
                losses,
                edges,
                # Shares, for there may be few false labels beside many true ones.
                weights=np.full(len(losses), 1 / max(1, len(losses))),
                histtype="stepfilled",
                facecolor=(color, 0.35),
                edgecolor=color,
                hatch=hatch,
                label=f"{name} label ({len(losses)} samples)",
            )
        ax.set(xlabel="loss of the given label", ylabel="share of the group")
        # Room above the highest bar, where the legend covers none.
        ax.set_ylim(0, 1.3 * ax.get_ylim()[1])
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
            f"{owner} found labels in y that are not among the classes: {unknown!r}. "
            "Pass the labels that the classifier was trained on."
        )
    columns = [column_of[label] for label in given.tolist()]
    of_given = proba[np.arange(len(given)), columns]
    return -np.log(np.clip(of_given, _LOWEST_PROBABILITY, 1))
