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
