"""Test error as a function of the noise rate."""

from typing import Any

from skpresto.plots._axes import show_percent
from skpresto.plots._results import ErrorLines


class NoiseRateCurveDisplay(ErrorLines):
    """Test error against the noise rate, with one line per method.

    Points are means over the trainings with the same method and noise rate. Error bars
    extend one standard error of the mean in both directions. The line of a method that
    is robust to label noise is flat [1]_.

    Parameters
    ----------
    results : DataFrame or list of dicts
        One row per training, with the columns ``"method"``, ``"rate"`` (fraction of
        wrong training labels) and ``"error"`` (fraction of wrong predictions on test
        data). Other columns, such as ``"seed"``, are ignored.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
        Axes and figure of the last plot.

    See Also
    --------
    HistoryLengthDisplay : Test error against the history length.

    References
    ----------
    .. [1] H. Song, M. Kim, D. Park, J.-G. Lee, "How does early stopping help
       generalization against label noise?", arXiv:1911.08059, 2019. Figures 4 and 6.

    Examples
    --------
    >>> from skpresto.plots import NoiseRateCurveDisplay
    >>> results = [
    ...     {"method": "Default", "rate": 0.0, "seed": 0, "error": 0.02},
    ...     {"method": "Default", "rate": 0.4, "seed": 0, "error": 0.36},
    ...     {"method": "Default", "rate": 0.4, "seed": 1, "error": 0.40},
    ...     {"method": "Prestopping", "rate": 0.0, "seed": 0, "error": 0.03},
    ...     {"method": "Prestopping", "rate": 0.4, "seed": 0, "error": 0.08},
    ... ]
    >>> display = NoiseRateCurveDisplay.from_results(results)
    >>> display.frame()[["method", "rate", "error"]].round(2).values.tolist()[1]
    ['Default', 0.4, 0.38]
    """

    line, x = "method", "rate"
    x_label = "noise rate of the training labels"

    @classmethod
    def from_results(cls, results: Any, *, ax: Any = None) -> "NoiseRateCurveDisplay":
        """Plot the results of several trainings.

        Parameters
        ----------
        results : DataFrame or list of dicts
            One row per training, as described for the class.
        ax : matplotlib axes, default=None
            Axes to plot on. If None, a new figure and axes are created.

        Returns
        -------
        display : NoiseRateCurveDisplay
            The plotted display.
        """
        return cls(results).plot(ax)

    def plot(self, ax: Any = None) -> "NoiseRateCurveDisplay":
        """Plot one line with error bars per method.

        Parameters
        ----------
        ax : matplotlib axes, default=None
            Axes to plot on. If None, a new figure and axes are created.

        Returns
        -------
        display : NoiseRateCurveDisplay
            This display.
        """
        super().plot(ax)
        show_percent(self.ax_.xaxis)
        return self
