"""The warning that a method has accepted almost no label."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from skpresto._warn import warn_caller
from skpresto.exceptions import SafeSetWarning

#: A safe set below this fraction of the labels is reported.
_SMALL_FRACTION = 0.01


def warn_of_small_safe_set(estimator: Any, is_safe: NDArray[np.bool_]) -> None:
    """Warn if the safe set has fewer labels than classes, or less than 1 % of them."""
    n_safe, n_samples = int(is_safe.sum()), len(is_safe)
    if n_safe >= max(len(estimator.classes_), _SMALL_FRACTION * n_samples):
        return
    warn_caller(
        f"{type(estimator).__name__}: only {n_safe} of {n_samples} labels are in the "
        "safe set, too few to tell which labels are correct. Rank labels by "
        "label_quality_ instead, or check lr, max_epochs and the noise rate.",
        SafeSetWarning,
    )
