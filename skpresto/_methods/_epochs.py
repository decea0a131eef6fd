"""Parameters that are a number of epochs or a fraction of ``max_epochs``."""

import math
from numbers import Integral, Real
from typing import Any

from sklearn.exceptions import ConvergenceWarning

from skpresto._sklearn import Interval
from skpresto._warn import warn_caller

#: A number of epochs, or a fraction of ``max_epochs``.
EPOCHS_CONSTRAINT = [
    Interval(Integral, 0, None, closed="left"),
    Interval(Real, 0, 1, closed="left"),
]

#: The same for a round of training, which has at least one epoch.
ROUND_CONSTRAINT = [
    Interval(Integral, 1, None, closed="left"),
    Interval(Real, 0, 1, closed="neither"),
]


def as_epochs(value: float, max_epochs: int) -> int:
    """Return a number of epochs, or a fraction of ``max_epochs``, as a number.

    Examples
    --------
    >>> as_epochs(10, 60), as_epochs(0.25, 60)
    (10, 15)
    """
    return int(value) if isinstance(value, Integral) else round(value * max_epochs)


def whole_epochs(value: float, max_epochs: int) -> int:
    """Return a number of epochs, or a fraction of ``max_epochs``, at least one.

    Examples
    --------
    >>> whole_epochs(10, 60), whole_epochs(0.3, 25)
    (10, 8)
    """
    return int(value) if isinstance(value, Integral) else math.ceil(value * max_epochs)


def n_epochs_of(estimator: Any, name: str) -> int:
    """Return a parameter that is a number or a fraction of epochs as a number.

    Raises
    ------
    ValueError
        If no epoch of ``max_epochs`` would be left.
    """
    value, max_epochs = getattr(estimator, name), estimator.max_epochs
    n_epochs = as_epochs(value, max_epochs)
    if n_epochs >= max_epochs:
        raise ValueError(
            f"{type(estimator).__name__} with {name}={value!r} would warm up for "
            f"{n_epochs} of max_epochs={max_epochs} epochs, so that none is left for "
            f"the method itself. Lower {name}, or raise max_epochs."
        )
    return n_epochs


def round_epochs_of(estimator: Any) -> int:
    """Return the epochs of a round: between one and ``max_epochs``."""
    max_epochs = estimator.max_epochs
    return min(max(1, as_epochs(estimator.round_epochs, max_epochs)), max_epochs)


def warn_if_nothing_is_corrected(estimator: Any) -> None:
    """Warn if training is too short for q predictions of any sample."""
    if estimator.q > estimator.max_epochs:
        warn_caller(
            f"{type(estimator).__name__} corrects a label after q={estimator.q} "
            f"predictions of its sample, but each run has only "
            f"max_epochs={estimator.max_epochs} epochs, so no label will be corrected. "
            "Lower q, or raise max_epochs.",
            ConvergenceWarning,
        )
