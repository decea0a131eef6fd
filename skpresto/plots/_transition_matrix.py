"""Heat map of a transition matrix."""

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import column_or_1d
from sklearn.utils.validation import check_is_fitted

from skpresto._inner_estimators import classifier_in
from skpresto.noise import estimate_transition_matrix
from skpresto.noise._stochastic import check_transition_matrix
from skpresto.plots._axes import frame_of, get_axes

#: Font size of the numbers as a fraction of the cell size, so that they fit the width.
_FONT_PER_CELL = 0.42

#: Font sizes in points; numbers that would be smaller are omitted as unreadable.
_MIN_FONT, _MAX_FONT = 6.0, 10.0


class TransitionMatrixDisplay:
    """Heat map of the probabilities of each given label for each true class.

    Rows are true classes and columns are given labels. Each row sums to 100 %.

    Parameters
    ----------
    matrix : array-like of shape (n_classes, n_classes)
        Entry (i, j) is the probability that a sample of class i is given label j.
    classes : array-like of shape (n_classes,), default=None
        Class names in the order of the rows. If None, numbers from 0.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
        Axes and figure of the last plot.

    See Also
    --------
    skpresto.noise.estimate_transition_matrix : Estimate a transition matrix.

    Examples
    --------
    >>> from skpresto.noise import PairNoise
    >>> from skpresto.plots import TransitionMatrixDisplay
    >>> noise = PairNoise(rate=0.4).fit(["cat", "dog", "emu"])
    >>> display = TransitionMatrixDisplay.from_injector(noise)
    >>> display.frame().loc["cat"].tolist()
    [0.6, 0.4, 0.0]
    """

    def __init__(self, matrix: ArrayLike, classes: ArrayLike | None = None) -> None:
        self.matrix = check_transition_matrix(matrix, type(self).__name__)
        n_classes = len(self.matrix)
        self.classes = (
            np.arange(n_classes) if classes is None else column_or_1d(classes).copy()
        )
        if len(self.classes) != n_classes:
            raise ValueError(
                f"{type(self).__name__} needs a name for each of {n_classes} classes, "
                f"but got {len(self.classes)}. Pass classes in the order of the rows."
            )

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, ax: Any = None
    ) -> "TransitionMatrixDisplay":
        """Plot the transition matrix that a fitted classifier has estimated.

        Parameters
        ----------
        estimator : classifier
            A fitted classifier with ``transition_matrix_``, such as
            :class:`~skpresto.CrossPrestoppingClassifier`, or a Pipeline or search
            with one.
        ax : matplotlib axes, default=None
            Axes to plot on. If None, a new figure and axes are created.

        Returns
        -------
        display : TransitionMatrixDisplay
            The plotted display.
        """
        estimator = classifier_in(estimator, f"{cls.__name__}.from_estimator")
        check_is_fitted(estimator)
        if getattr(estimator, "transition_matrix_", None) is None:
            raise ValueError(
                f"{cls.__name__}.from_estimator needs a classifier that estimates a "
                f"transition matrix, but {type(estimator).__name__} has no "
                "transition_matrix_. Pass a fitted CrossPrestoppingClassifier that did "
                "not fall back to an ensemble vote, or use "
                "from_labels(suggested_labels_, y)."
            )
        return cls(estimator.transition_matrix_, estimator.classes_).plot(ax)

    @classmethod
    def from_injector(cls, noise: Any, *, ax: Any = None) -> "TransitionMatrixDisplay":
        """Plot the transition matrix of a noise injector.

        Parameters
        ----------
        noise : noise injector
            Any fitted noise injector of ``skpresto.noise``.
        ax : matplotlib axes, default=None
            Axes to plot on. If None, a new figure and axes are created.

        Returns
        -------
        display : TransitionMatrixDisplay
            The plotted display.
        """
        check_is_fitted(noise)
        if not hasattr(noise, "transition_matrix_"):
            raise ValueError(
                f"{cls.__name__}.from_injector needs a noise injector, but "
                f"{type(noise).__name__} has no transition_matrix_. For a classifier, "
                "use from_estimator or from_labels."
            )
        return cls(noise.transition_matrix_, noise.classes_).plot(ax)

    @classmethod
    def from_labels(
        cls, y_true: ArrayLike, y_noisy: ArrayLike, *, ax: Any = None
    ) -> "TransitionMatrixDisplay":
        """Plot how often samples of each true class are given each label.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            True labels.
        y_noisy : array-like of shape (n_samples,)
            Given labels.
        ax : matplotlib axes, default=None
            Axes to plot on. If None, a new figure and axes are created.

        Returns
        -------
        display : TransitionMatrixDisplay
            The plotted display.
        """
        matrix = estimate_transition_matrix(y_noisy, y_true)
        labels = np.concatenate([column_or_1d(y_true), column_or_1d(y_noisy)])
        return cls(matrix, np.unique(labels)).plot(ax)

    def frame(self) -> Any:
        """Return the matrix with true labels as index and given labels as columns."""
        # Columns are named afterwards, because class names need not be strings.
        frame = frame_of({str(i): column for i, column in enumerate(self.matrix.T)})
        frame.index, frame.columns = list(self.classes), list(self.classes)
        return frame.rename_axis(index="true label", columns="given label")

    def plot(self, ax: Any = None) -> "TransitionMatrixDisplay":
        """Plot the heat map, with numbers in the cells if they are large enough.

        Parameters
        ----------
        ax : matplotlib axes, default=None
            Axes to plot on. If None, a new figure and axes are created.

        Returns
        -------
        display : TransitionMatrixDisplay
            This display.
        """
        ax = get_axes(self, ax)
        image = ax.imshow(100 * self.matrix, cmap="Blues", vmin=0, vmax=100)
        ax.set(xlabel="given label", ylabel="true label")
        # Size of the axes and of a cell in points, as of font sizes.
        side = min(ax.get_window_extent().size) * 72 / ax.figure.dpi
        cell = side / len(self.classes)
        self._name_classes(ax, cell)
        if _FONT_PER_CELL * cell >= _MIN_FONT:
            self._write_numbers(ax, min(_MAX_FONT, _FONT_PER_CELL * cell))
        bar = ax.figure.colorbar(image, ax=ax)
        bar.set_label("probability of the given label (%)")
        return self

    def _name_classes(self, ax: Any, cell: float) -> None:
        """Label every class, or every k-th class if there is no room for all."""
        step = math.ceil(1.2 * _MIN_FONT / cell)
        size = min(_MAX_FONT, max(_MIN_FONT, 0.8 * cell))
        shown = range(0, len(self.classes), step)
        names = [str(self.classes[number]) for number in shown]
        # A letter is about 0.7 times as wide as its font size.
        is_wide = 0.7 * size * max(map(len, names)) > cell * step
        ax.set_xticks(shown, names, size=size, rotation=90 if is_wide else 0)
        ax.set_yticks(shown, names, size=size)

    def _write_numbers(self, ax: Any, size: float) -> None:
        for (row, column), probability in np.ndenumerate(self.matrix):
            if probability > 0:
                # White on dark cells, for contrast.
                color = "white" if probability > 0.5 else "black"
                style = {"ha": "center", "va": "center", "color": color, "size": size}
                ax.text(column, row, _percent(probability), **style)


def _percent(probability: float) -> str:
    """Format as percentage, with one decimal if it rounds to less than 10 %."""
    percent = 100 * probability
    return f"{percent:.0f}" if percent >= 9.5 else f"{percent:.1f}"
