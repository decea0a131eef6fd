"""Rules that choose the stop point of phase I, and the epoch records they read."""

from skpresto.stopping._agreement import AgreementStop
from skpresto.stopping._base import EpochRecord, StopRule
from skpresto.stopping._label_wave import LabelWaveStop
from skpresto.stopping._lowest_error import HoldoutStop, ValidationStop
from skpresto.stopping._noise_rate import (
    LossMixtureStop,
    MemorizedFractionStop,
    NoiseRateStop,
    OracleStop,
)

__all__ = [
    "AgreementStop",
    "EpochRecord",
    "HoldoutStop",
    "LabelWaveStop",
    "LossMixtureStop",
    "MemorizedFractionStop",
    "NoiseRateStop",
    "OracleStop",
    "StopRule",
    "ValidationStop",
]
