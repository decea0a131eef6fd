"""How the probability of the given label went over the epochs, as a small line."""

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

#: Points of a line, and the characters for its levels, from 0 to 1.
N_POINTS = 30
LEVELS = "0123456789abcdefghijklmnopqrstuvwxyz"
WIDTH, HEIGHT = 120, 28


def encode_lines(trajectories: NDArray[np.floating]) -> list[str]:
    """Return each line as text, one character per point.

    Epochs are averaged to at most :data:`N_POINTS` points; those without a visit are
    left out of the mean, and a point without any is a dot.

    Examples
    --------
    >>> encode_lines(np.array([[0.0, 0.5, 1.0], [np.nan, 1.0, 1.0]]))
    ['0iz', '.zz']
    """
    n_epochs = trajectories.shape[1]
    n_points = min(n_epochs, N_POINTS)
    bounds = np.linspace(0, n_epochs, n_points + 1).round().astype(int)
    points = np.stack(
        [_mean(trajectories[:, a:b]) for a, b in pairwise(bounds)],
        axis=1,
    )
    levels = np.nan_to_num(points, nan=-1.0) * (len(LEVELS) - 1)
    return [
        "".join("." if level < 0 else LEVELS[round(level)] for level in line)
        for line in levels.tolist()
    ]


def line_points(line: str) -> str:
    """Return the ``points`` of an SVG polyline.

    Examples
    --------
    >>> line_points("0z")
    '2,26 118,2'
    """
    step = (WIDTH - 4) / max(len(line) - 1, 1)
    return " ".join(
        f"{2 + step * i:.4g},{2 + (HEIGHT - 4) * (1 - LEVELS.index(c) / 35):.3g}"
        for i, c in enumerate(line)
        if c != "."
    )


def _mean(values: NDArray[np.floating]) -> NDArray[np.floating]:
    """Return the mean of each row over its known values, NaN without any."""
    with np.errstate(invalid="ignore"):
        return np.nansum(values, axis=1) / (~np.isnan(values)).sum(axis=1)
