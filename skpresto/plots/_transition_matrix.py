"""Which class is mistaken for which."""

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import column_or_1d
from sklearn.utils.validation import check_is_fitted

from skpresto.noise import estimate_transition_matrix
from skpresto.noise._stochastic import check_transition_matrix
from skpresto.plots._axes import frame_of, get_axes

#: Letters of this share of a cell's height fill its width; smaller ones than the
#: smallest (in points) cannot be read, and are not written.
_SHARE_OF_CELL = 0.42
_SMALLEST, _LARGEST = 6.0, 10.0


class TransitionMatrixDisplay:
    """Heat map of how likely a label of each class becomes another.

    A row is a true class and sums to 100 %; its columns are the labels given to it.

    Parameters
    ----------
    matrix : array-like of shape (n_classes, n_classes)
        In row i and column j the probability that a label of class i becomes j.
    classes : array-like of shape (n_classes,), default=None
        Names of the classes, by default their numbers from 0.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
        What was drawn on last.

    See Also
    --------
    skpresto.noise.estimate_transition_matrix : Find the matrix of given labels.

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
    def from_injector(cls, noise: Any, *, ax: Any = None) -> "TransitionMatrixDisplay":
        """Draw what a label noise does.

        Parameters
        ----------
        noise : label noise
            Any of ``skpresto.noise``, fitted.
        ax : matplotlib axes, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        display : TransitionMatrixDisplay
            The display, drawn.
        """
        check_is_fitted(noise, ["transition_matrix_", "classes_"])
        return cls(noise.transition_matrix_, noise.classes_).plot(ax)

    @classmethod
    def from_labels(
        cls, y_true: ArrayLike, y_noisy: ArrayLike, *, ax: Any = None
    ) -> "TransitionMatrixDisplay":
        """Draw how often each true label was given as each other.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            True labels.
        y_noisy : array-like of shape (n_samples,)
            Labels as given.
        ax : matplotlib axes, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        display : TransitionMatrixDisplay
            The display, drawn.
        """
        matrix = estimate_transition_matrix(y_noisy, y_true)
        labels = np.concatenate([column_or_1d(y_true), column_or_1d(y_noisy)])
        return cls(matrix, np.unique(labels)).plot(ax)

    def frame(self) -> Any:
        """Return the matrix with the true classes as index, the given as columns."""
        # Numbered first: class names need not be strings.
        frame = frame_of({str(i): column for i, column in enumerate(self.matrix.T)})
        frame.index, frame.columns = list(self.classes), list(self.classes)
        return frame.rename_axis(index="true label", columns="given label")

    def plot(self, ax: Any = None) -> "TransitionMatrixDisplay":
        """Draw the heat map, with the numbers in it if there is room.

        Parameters
        ----------
        ax : matplotlib axes, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        display : TransitionMatrixDisplay
            This display.
        """
        ax = get_axes(self, ax)
        image = ax.imshow(100 * self.matrix, cmap="Blues", vmin=0, vmax=100)
        ax.set(xlabel="given label", ylabel="true label")
        # The side of a cell in points decides what can be read.
        side = min(ax.get_window_extent().size) * 72 / ax.figure.dpi
        cell = side / len(self.classes)
        self._name_classes(ax, cell)
        if _SHARE_OF_CELL * cell >= _SMALLEST:
            self._write_numbers(ax, min(_LARGEST, _SHARE_OF_CELL * cell))
        bar = ax.figure.colorbar(image, ax=ax)
        bar.set_label("probability of the given label (%)")
        return self

    def _name_classes(self, ax: Any, cell: float) -> None:
        """Name the classes, or every second, third … where there is no room for all."""
        step = math.ceil(1.2 * _SMALLEST / cell)
        size = min(_LARGEST, max(_SMALLEST, 0.8 * cell))
        shown = range(0, len(self.classes), step)
        names = [str(self.classes[number]) for number in shown]
        # A letter is about 0.7 times as wide as its size.
        is_wide = 0.7 * size * max(map(len, names)) > cell * step
        ax.set_xticks(shown, names, size=size, rotation=90 if is_wide else 0)
        ax.set_yticks(shown, names, size=size)

    def _write_numbers(self, ax: Any, size: float) -> None:
        for (row, column), share in np.ndenumerate(self.matrix):
            if share > 0:
                # Dark cells need light letters.
                color = "white" if share > 0.5 else "black"
                style = {"ha": "center", "va": "center", "color": color, "size": size}
                ax.text(column, row, _percent(share), **style)


def _percent(share: float) -> str:
    """Write a share as per cent: one decimal where the whole number says too little."""
    return f"{100 * share:.0f}" if share >= 0.095 else f"{100 * share:.1f}"
