"""Constants of the calibration, fitted by ``benchmarks/audit/fit_constants.py``."""

from typing import NamedTuple


class CalibrationConstants(NamedTuple):
    """How to predict noise rate and slope, and how far predictions miss.

    Parameters
    ----------
    rate : tuple of float
        Log-odds of the noise rate: constant, and weights of the inputs of the rate.
    slope : tuple of float
        Logarithm of the slope: constant, and weights of the inputs of the slope.
    clean : tuple of float
        Log-odds that no label is wrong: constant, and weights of the inputs of the
        rate.
    rate_spread : float
        Standard deviation of the log-odds of the noise rate.
    slope_spread : float
        Standard deviation of the logarithm of the slope.
    class_spread : float
        Standard deviation of the log-odds of the noise rate of a class.
    """

    rate: tuple[float, ...]
    slope: tuple[float, ...]
    clean: tuple[float, ...]
    rate_spread: float
    slope_spread: float
    class_spread: float


#: For networks that were trained on the labels that they assess.
IN_SAMPLE = CalibrationConstants(
    rate=(-0.523, 0.053, 0.785),
    slope=(0.772, -1.837, 0.588),
    clean=(-5.0, 0.0, 0.0),
    rate_spread=0.6,
    slope_spread=0.708,
    class_spread=0.9,
)
#: For out-of-fold probabilities of other classifiers.
OUT_OF_FOLD = CalibrationConstants(
    rate=(-0.646, 1.116, 1.155, -0.949),
    slope=(1.093, 1.606, 0.28),
    clean=(-5.053, -1.394, -1.605, 0.275),
    rate_spread=0.763,
    slope_spread=0.507,
    class_spread=0.3,
)
#: For the fold networks of CrossPrestopping, whose quality has the ensemble in it.
CROSS_FITTED = OUT_OF_FOLD
