"""Types of labels: arrays without silent conversions, and comparable label vectors."""

from numbers import Number
from typing import Any

import numpy as np
from numpy.typing import NDArray


def array_of_labels(y: Any) -> NDArray[Any]:
    """Return ``numpy.asarray(y)``, but keep the types of a list of several types.

    numpy would convert numbers, and missing values, among strings to strings.

    Examples
    --------
    >>> array_of_labels(["a", 1]).tolist()
    ['a', 1]
    >>> array_of_labels(["a", "b"])
    array(['a', 'b'], dtype='<U1')
    """
    labels = np.asarray(y)
    if labels.dtype.kind in "US" and isinstance(y, (list, tuple)) and labels.ndim == 1:
        kinds = {_family(label) for label in y}
        if len(kinds) > 1:
            return np.array(y, dtype=object)
    return labels


def refuse_other_type(owner: str, labels: NDArray[Any], others: NDArray[Any]) -> None:
    """Raise if ``y`` and ``y_true`` are of types that are never equal."""
    given, true = (
        {_family(label) for label in array[:1000].tolist()}
        for array in (labels, others)
    )
    if given and true and not given & true:
        raise TypeError(
            f"{owner} needs y and y_true of the same type to compare them, but y "
            f"begins with {labels[:1].tolist()[0]!r} and y_true with "
            f"{others[:1].tolist()[0]!r}. Convert one of them."
        )


def _family(label: Any) -> Any:
    """Return the type of a label; all numbers are of one, since 1 equals 1.0."""
    if isinstance(label, (Number, np.number, np.bool_)):
        return Number
    if isinstance(label, str):
        return str
    return type(label)
