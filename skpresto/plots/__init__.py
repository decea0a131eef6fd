"""Pictures of what happened in a training, in scikit-learn's Display convention.

Each Display keeps the numbers it shows, gives them as a ``frame()``, draws them with
``plot(ax=...)`` and never changes them. matplotlib is imported when something is drawn.
"""

from skpresto.plots._stop_point import StopPointDisplay

__all__ = ["StopPointDisplay"]
