"""Plots of a training, its labels and its results, as scikit-learn Display objects.

Each Display stores the data that it shows. ``frame()`` returns them as a DataFrame and
``plot(ax=...)`` draws them; neither changes them. matplotlib is imported by the first
call of ``plot``.
"""

from skpresto.plots._history_length import HistoryLengthDisplay
from skpresto.plots._loss_distribution import LossDistributionDisplay
from skpresto.plots._memorization import MemorizationDisplay
from skpresto.plots._noise_rate_curve import NoiseRateCurveDisplay
from skpresto.plots._safe_set import SafeSetDisplay
from skpresto.plots._stop_point import StopPointDisplay
from skpresto.plots._transition_matrix import TransitionMatrixDisplay

__all__ = [
    "HistoryLengthDisplay",
    "LossDistributionDisplay",
    "MemorizationDisplay",
    "NoiseRateCurveDisplay",
    "SafeSetDisplay",
    "StopPointDisplay",
    "TransitionMatrixDisplay",
]
