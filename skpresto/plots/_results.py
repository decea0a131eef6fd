"""Validation, averaging and plotting of the results of several trainings."""

from collections.abc import Iterable, Sequence
from typing import Any, Self

from skpresto.plots._axes import (
    frame_of,
    get_axes,
    legend_of_lines,
    line_style,
    show_percent,
)


def rows_of(results: Any, needs: Sequence[str], owner: str) -> list[dict[str, Any]]:
    """Return results as a list of dicts, after checking that they are complete.

    Parameters
    ----------
    results : DataFrame or iterable of dicts
        One row per training.
    needs : sequence of str
        Required columns, including ``"error"``.
    owner : str
        Name to use in error messages.
    """
    if hasattr(results, "to_dict"):
        results = results.to_dict("records")
    rows = [dict(row) for row in _iterable(results, owner)]
    if not rows:
        raise ValueError(
            f"{owner} needs at least one result, but got none. Pass one row per "
            f"training, with {_listed(needs)}."
        )
    for number, row in enumerate(rows):
        _check_row(row, number, needs, owner)
    return rows


def _iterable(results: Any, owner: str) -> Iterable[Any]:
    if isinstance(results, Iterable) and not isinstance(results, (str, dict)):
        return results
    raise TypeError(
        f"{owner} needs results as a DataFrame or a list of dicts, one per training, "
        f"but got {type(results).__name__}."
    )


def _check_row(
    row: dict[str, Any], number: int, needs: Sequence[str], owner: str
) -> None:
    missing = [name for name in needs if name not in row]
    if missing:
        raise ValueError(
            f"{owner} needs {_listed(needs)} in every result, but result {number} has "
            f"no {_listed(missing)}; it has {_listed(list(row)) or 'no columns'}. Add "
            "or rename columns."
        )
    if not 0 <= row["error"] <= 1:
        raise ValueError(
            f"{owner} needs errors as fractions between 0 and 1, but result {number} "
            f"has an error of {row['error']}. Divide percentages by 100, and remove "
            "failed trainings."
        )


def _listed(names: Sequence[str]) -> str:
    return ", ".join(repr(name) for name in names)


class ErrorLines:
    """Mean test errors of several trainings as lines with error bars.

    A subclass names the columns by which trainings are averaged.

    Parameters
    ----------
    results : DataFrame or list of dicts
        One row per training.
    """

    #: Column whose values define the lines, column of the x-axis, and its label.
    line: str
    x: str
    x_label: str
    ax_: Any

    def __init__(self, results: Any) -> None:
        self.results = rows_of(
            results, (self.line, self.x, "error"), type(self).__name__
        )

    def frame(self) -> Any:
        """Return the plotted data as a DataFrame, one row per point.

        Points are in order of appearance. The standard error is that of the mean, and
        nan for a single training.
        """
        errors = frame_of(self.results).groupby(
            list(dict.fromkeys((self.line, self.x))), sort=False, dropna=False
        )["error"]
        found = errors.agg(error="mean", std_error="sem", n_trainings="count")
        return found.reset_index()

    def plot(self, ax: Any = None) -> Self:
        """Plot the lines, with a legend.

        Parameters
        ----------
        ax : matplotlib axes, default=None
            Axes to plot on. If None, a new figure and axes are created.

        Returns
        -------
        display : display
            This display.
        """
        ax, frame = get_axes(self, ax), self.frame()
        lines = frame.groupby(self.line, sort=False, dropna=False)
        for number, (name, part) in enumerate(lines):
            points = part.sort_values(self.x)
            ax.errorbar(
                points[self.x],
                points["error"],
                # A single training has no standard error and gets no error bar.
                yerr=points["std_error"].fillna(0),
                label=str(name),
                capsize=3,
                markersize=5,
                **line_style(number),
            )
        ax.set(xlabel=self.x_label, ylabel="test error")
        ax.set_ylim(bottom=0)
        ax.set_xticks(sorted(frame[self.x].unique()))
        show_percent(ax.yaxis)
        legend_of_lines(ax, len(lines))
        return self
