"""Plot of a report: given and suggested labels, and the quality of the labels."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skpresto._labels import Labels
from skpresto.plots._axes import COLORS, get_axes

_N_BINS = 40


@dataclass(eq=False)
class LabelReportDisplay:
    """Heat map of given and suggested labels, and histogram of label quality.

    Parameters
    ----------
    matrix : ndarray of shape (n_classes, n_classes)
        Numbers of samples by given label (rows) and suggested label (columns).
    classes : ndarray of shape (n_classes,)
        Labels of rows and columns.
    quality : ndarray of shape (n_samples,)
        Label quality.
    is_suspect : ndarray of shape (n_samples,), dtype=bool
        Which labels are suspects.

    Attributes
    ----------
    axes_, figure_ : pair of matplotlib axes, and figure
        Those of the last plot.
    """

    matrix: NDArray[np.int64]
    classes: Labels
    quality: NDArray[np.float64]
    is_suspect: NDArray[np.bool_]

    def plot(self, axes: Any = None) -> "LabelReportDisplay":
        """Plot both.

        Parameters
        ----------
        axes : pair of matplotlib axes, default=None
            Axes to plot on. If None, a new figure is created.

        Returns
        -------
        display : LabelReportDisplay
            This display.
        """
        if axes is None:
            figure = get_axes(self, None).figure
            figure.clear()
            figure.set_size_inches(11, 4.5)
            axes = figure.subplots(1, 2)
        self.axes_ = left, right = axes
        self.figure_ = left.figure
        self._plot_matrix(left)
        self._plot_quality(right)
        return self

    def _plot_matrix(self, ax: Any) -> None:
        shown = self.matrix.astype(np.float64)
        np.fill_diagonal(shown, 0)  # the many correct labels would hide the others
        image = ax.imshow(shown, cmap="Blues", vmin=0)
        # A pair of dollar signs would be read as a formula.
        names = [str(name).replace("$", r"\$") for name in self.classes.tolist()]
        rotation = 90 if max(map(len, names)) > 3 else 0
        ax.set_xticks(range(len(names)), names, rotation=rotation, size="small")
        ax.set_yticks(range(len(names)), names, size="small")
        ax.set(xlabel="suggested label", ylabel="given label")
        ax.figure.colorbar(image, ax=ax).set_label("number of labels")

    def _plot_quality(self, ax: Any) -> None:
        parts = [self.quality[self.is_suspect], self.quality[~self.is_suspect]]
        ax.hist(
            parts,
            bins=np.linspace(0, 1, _N_BINS + 1),
            stacked=True,
            color=[COLORS["red"], COLORS["blue"]],
            label=["suspects", "others"],
        )
        ax.set(xlabel="label quality", ylabel="number of labels", yscale="log")
        ax.legend(fontsize="small")
