"""Axes, colors, line styles and legends used by all displays."""

from typing import Any

from skpresto._packages import needed_by

#: Palette of Okabe and Ito, distinguishable for color-blind readers.
COLORS = {
    "blue": "#0072B2",
    "orange": "#E69F00",
    "green": "#009E73",
    "red": "#D55E00",
    "purple": "#CC79A7",
    "sky": "#56B4E9",
    "yellow": "#F0E442",
    "black": "#000000",
}

#: Colors of lines in order; yellow is too pale for a line on a white background.
_LINE_COLORS = ("blue", "red", "green", "purple", "orange", "sky", "black")
_MARKERS = "osD^vPX"
_DASHES = ("-", "--", ":")

#: With more lines than this, a legend inside the axes would cover them.
_MAX_LINES_INSIDE = 4


def get_axes(display: Any, ax: Any) -> Any:
    """Return ``ax`` or the axes of a new figure, and store them in the display."""
    with needed_by(f"{type(display).__name__}.plot", "plot"):
        import matplotlib.pyplot as plt
    if ax is None:
        _, ax = plt.subplots(layout="constrained")
    display.ax_, display.figure_ = ax, ax.figure
    return ax


def frame_of(columns: Any) -> Any:
    """Return columns, or rows as dicts, as a ``pandas.DataFrame``."""
    with needed_by("frame()", "plot"):
        import pandas as pd
    return pd.DataFrame(columns)


def line_style(number: int) -> dict[str, str]:
    """Return color, marker and line style of the line with this number.

    Color and marker change together, so that lines also differ in black and white.
    """
    cycle, position = divmod(number, len(_LINE_COLORS))
    return {
        "color": COLORS[_LINE_COLORS[position]],
        "marker": _MARKERS[position],
        "linestyle": _DASHES[cycle % len(_DASHES)],
    }


def show_percent(axis: Any) -> None:
    """Format the fractions on an axis (``ax.xaxis`` or ``ax.yaxis``) as percentages."""
    # Without rounding, 0.07 would be shown as 7.000000000000001%.
    axis.set_major_formatter(lambda fraction, _: f"{round(100 * fraction, 6):g}%")


def legend_beside(ax: Any) -> None:
    """Place the legend to the right of the axes, where it covers no line."""
    ax.legend(fontsize="small", loc="center left", bbox_to_anchor=(1.01, 0.5))


def legend_of_lines(ax: Any, n_lines: int) -> None:
    """Place the legend inside the axes for few lines, else to the right of them."""
    if n_lines > _MAX_LINES_INSIDE:
        legend_beside(ax)
    else:
        ax.legend(fontsize="small", loc="best")
