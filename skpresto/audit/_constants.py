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
    rate=(0.118, 0.774, 0.044),
    slope=(0.99, -1.137, 0.391),
    clean=(-5.812, -1.208, 0.482),
    rate_spread=0.595,
    slope_spread=0.654,
    class_spread=0.6,
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
#: For three rounds of a classifier, which predict classes rather than labels.
ROUNDS = CalibrationConstants(
    rate=(-1.288, 0.875, 0.545, -0.889),
    slope=(0.963, 2.321, 0.47),
    clean=(-4.268, -0.766, 0.003, 0.653),
    rate_spread=0.522,
    slope_spread=0.556,
    class_spread=0.2,
)
#: For the fold networks of CrossPrestopping, whose quality has the ensemble in it.
CROSS_FITTED = CalibrationConstants(
    rate=(0.064, 1.151, 0.035, 0.019),
    slope=(0.087, 1.484, -0.137),
    clean=(-5.053, -1.394, -1.605, 0.275),
    rate_spread=0.591,
    slope_spread=1.132,
    class_spread=0.0,
)
