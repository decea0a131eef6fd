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
    rate=(-0.523, 0.053, 0.785),
    slope=(0.772, -1.837, 0.588),
    rate_spread=(0.477, 0.337),
    slope_spread=0.708,
    class_spread=0.9,
)
#: For out-of-fold probabilities.
OUT_OF_FOLD = CalibrationConstants(
    rate=(-0.197, 0.458, 0.53),
    slope=(1.024, -0.889, 0.334),
    rate_spread=(0.2, 0.536),
    slope_spread=1.011,
    class_spread=0.7,
)
