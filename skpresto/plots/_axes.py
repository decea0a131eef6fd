"""What the Displays share: an axes to draw on, and colours everyone can tell apart."""

from typing import Any

#: Okabe and Ito's palette, which colour-blind readers can tell apart.
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

#: Order in which lines take their colours; yellow is too pale for a line on white.
_LINE_COLORS = ("blue", "red", "green", "purple", "orange", "sky", "black")
_MARKERS = "osD^vPX"
_DASHES = ("-", "--", ":")

#: More lines than this and a legend inside the axes would cover them.
_MOST_LINES_INSIDE = 4


def get_axes(display: Any, ax: Any) -> Any:
    """Return ``ax``, or the axes of a new figure, and tell the display of it."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(
            f"{type(display).__name__}.plot needs matplotlib. Install it with "
            "pip install 'skpresto[plot]'."
        ) from error
    if ax is None:
        _, ax = plt.subplots(layout="constrained")
    display.ax_, display.figure_ = ax, ax.figure
    return ax


def frame_of(columns: dict[str, Any]) -> Any:
    """Return columns as a ``pandas.DataFrame``."""
    try:
        import pandas as pd
    except ImportError as error:
        raise ImportError("frame() needs pandas: pip install pandas.") from error
    return pd.DataFrame(columns)


def line_style(number: int) -> dict[str, str]:
    """Return colour, marker and dashes of the line with this number.

    Colour and marker change together, so that lines differ without colour too.
    """
    turn, place = divmod(number, len(_LINE_COLORS))
    return {
        "color": COLORS[_LINE_COLORS[place]],
        "marker": _MARKERS[place],
        "linestyle": _DASHES[turn % len(_DASHES)],
    }


def show_percent(axis: Any) -> None:
    """Write the shares on an axis (``ax.xaxis`` or ``ax.yaxis``) as per cent."""
    # Rounded, or 0.07 would be written as 7.000000000000001.
    axis.set_major_formatter(lambda share, _: f"{round(100 * share, 6):g}%")


def legend_beside(ax: Any) -> None:
    """Put the legend to the right of the axes, where it covers no curve."""
    ax.legend(fontsize="small", loc="center left", bbox_to_anchor=(1.01, 0.5))


def legend_of_lines(ax: Any, n_lines: int) -> None:
    """Put the legend inside while there is room, beside the axes otherwise."""
    if n_lines > _MOST_LINES_INSIDE:
        legend_beside(ax)
    else:
        ax.legend(fontsize="small", loc="best")
