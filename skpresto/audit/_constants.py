"""Constants of the calibration, fitted by ``benchmarks/audit/fit_constants.py``."""

from typing import NamedTuple


class CalibrationConstants(NamedTuple):
    """How to predict noise rate and slope, and how far predictions miss.

    Parameters
    ----------
    rate : tuple of float
        Log-odds of the noise rate: constant, weight of the log-odds of one minus the
        mean quality, weight of the log-odds of held-out disagreement.
    slope : tuple of float
        Logarithm of the slope: constant, weight of the gap between held-out
        disagreement and rejection, weight of the logarithm of the number of classes.
    rate_spread : tuple of float
        Standard deviation of the log-odds of the noise rate: without a gap, and what a
        gap of one adds to it.
    slope_spread : float
        Standard deviation of the logarithm of the slope.
    class_spread : float
        Standard deviation of the log-odds of the noise rate of a class.
    """

    rate: tuple[float, float, float]
    slope: tuple[float, float, float]
    rate_spread: tuple[float, float]
    slope_spread: float
    class_spread: float


#: For networks that were trained on the labels that they assess.
IN_SAMPLE = CalibrationConstants(
    rate=(-0.717, -0.087, 0.762),
    slope=(0.863, -1.257, 0.551),
    rate_spread=(0.363, 0.208),
    slope_spread=0.936,
    class_spread=0.5,
)
#: For out-of-fold probabilities.
OUT_OF_FOLD = CalibrationConstants(
    rate=(-0.242, 0.472, 0.365),
    slope=(1.05, -1.547, 0.435),
    rate_spread=(0.037, 0.761),
    slope_spread=0.855,
    class_spread=0.5,
)
