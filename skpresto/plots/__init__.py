"""Pictures of what happened in a training, in scikit-learn's Display convention.

Each Display keeps the numbers it shows, gives them as a ``frame()``, draws them with
``plot(ax=...)`` and never changes them. matplotlib is imported when something is drawn.
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
