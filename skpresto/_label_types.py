"""Types of labels: arrays without silent conversions, and comparable label vectors."""

from numbers import Number
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: Types of which sorted and distinct values are not what a class is.
_CONTAINER = (list, dict, set, frozenset, np.ndarray)


def array_of_labels(y: Any, owner: str, name: str = "y") -> NDArray[Any]:
    """Return ``numpy.asarray(y)``, but keep the types of a list of several types.

    numpy would convert numbers, and missing values, among strings to strings. Raises
    if an entry is a container, which cannot be a label; ``owner`` and ``name`` are for
    the message.

    Examples
    --------
    >>> array_of_labels(["a", 1], "Example").tolist()
    ['a', 1]
    >>> array_of_labels(["a", "b"], "Example")
    array(['a', 'b'], dtype='<U1')
    """
    try:
        labels = np.asarray(y)
    except ValueError:
        raise ValueError(
            f"{owner} needs a 1-D {name} with one label per sample, but got sequences "
            "of different length. Pass a single label for each sample."
        ) from None
    if labels.dtype.kind == "O" and labels.ndim == 1:
        kinds = {
            type(label).__name__ for label in labels if isinstance(label, _CONTAINER)
        }
        if kinds:
            raise TypeError(
                f"{owner} needs labels of one type such as str or int, but {name} "
                f"contains {' and '.join(sorted(kinds))}. Convert them to names."
            )
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
