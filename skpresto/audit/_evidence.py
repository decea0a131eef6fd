"""What predicts how many labels are wrong, beside the order of their quality."""

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, logit

from skpresto._label_quality.planted import PlantedErrors
from skpresto.audit._constants import CalibrationConstants

#: Below this, planted errors cannot be told from given labels.
LEAST_AUC = 0.8
#: Fractions are kept off 0 and 1, whose log-odds are infinite.
_SMALLEST = 0.002
#: Gap between rejected and held-out labels, in log-odds, where nothing was held out.
_TYPICAL_GAP = 0.4


@dataclass(frozen=True)
class Evidence:
    """What is known about the labels beside the order of their quality.

    Parameters
    ----------
    constants : CalibrationConstants
        By what the quality was computed from.
    rate_inputs, slope_inputs : tuple of float
        From which noise rate and slope are predicted.
    rests_on : str
        Where they come from, in words.
    auc : float, default=None
        How well planted errors are told from given labels; None where none are
        planted.
    """

    constants: CalibrationConstants
    rate_inputs: tuple[float, ...]
    slope_inputs: tuple[float, ...]
    rests_on: str
    auc: float | None = None

    @property
    def rate(self) -> float:
        """Predicted log-odds of the noise rate."""
        return float(np.dot(self.constants.rate, (1.0, *self.rate_inputs)))

    @property
    def slope(self) -> float:
        """Predicted logarithm of the slope."""
        return float(np.dot(self.constants.slope, (1.0, *self.slope_inputs)))

    @property
    def clean(self) -> float:
        """Probability that no label is wrong."""
        return float(expit(np.dot(self.constants.clean, (1.0, *self.rate_inputs))))

    @property
    def tells_errors(self) -> bool:
        """Whether wrong labels can be told from samples that are merely hard."""
        return self.auc is None or self.auc >= LEAST_AUC


def planted_evidence(
    constants: CalibrationConstants, planted: PlantedErrors
) -> Evidence:
    """Return the evidence of labels that are wrong on purpose.

    Parameters
    ----------
    constants : CalibrationConstants
        By what the probabilities come from.
    planted : PlantedErrors
        What planting errors told.
    """
    mean_error = log_odds(planted.mean_error)
    sharpness = float(np.log(planted.sharpness))
    return Evidence(
        constants,
        rate_inputs=(mean_error, planted.slope, sharpness),
        slope_inputs=(planted.slope, mean_error),
        rests_on="out-of-fold predictions and labels that were made wrong on purpose",
        auc=planted.auc,
    )


def held_out_evidence(
    constants: CalibrationConstants,
    *,
    n_classes: int,
    mean_error: float,
    rejected_fraction: float,
    disagreement: float | None = None,
) -> Evidence:
    """Return the evidence of networks that were trained on the labels they assess.

    Networks that memorized labels reject few of them, but predict many others where
    samples were held out. That gap tells how flat the curve is.

    Parameters
    ----------
    constants : CalibrationConstants
        By what the quality was computed from.
    n_classes : int
        Number of classes.
    mean_error : float
        One minus the mean quality.
    rejected_fraction : float
        Fraction of labels that the method does not accept.
    disagreement : float, default=None
        Fraction of given labels that were not predicted for samples that the network
        was not trained on; None if there are none.
    """
    rejected = log_odds(rejected_fraction)
    gap = _TYPICAL_GAP
    if disagreement is not None:
        gap = max(0.0, log_odds(disagreement) - rejected)
    held_out = rejected + gap if disagreement is None else log_odds(disagreement)
    return Evidence(
        constants,
        rate_inputs=(log_odds(mean_error), held_out),
        slope_inputs=(gap, float(np.log(n_classes))),
        rests_on="predictions of networks that were trained on these labels",
    )


def log_odds(fraction: float) -> float:
    """Return log-odds, which are finite for 0 and 1, too.

    Examples
    --------
    >>> log_odds(0.5), round(log_odds(0.0), 2)
    (0.0, -6.21)
    """
    return float(logit(np.clip(fraction, _SMALLEST, 1 - _SMALLEST)))
