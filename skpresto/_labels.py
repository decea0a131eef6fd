"""Label vectors: validated on input, encoded as class numbers, and decoded again.

Users pass strings, numbers, booleans, objects, dates or pandas Series. Only this module
handles them; all other code works on class numbers 0 to n_classes - 1. Long vectors are
processed in parts, so that no step needs more than a few bytes of memory per label.

Every function that can raise takes ``owner``, the estimator or function that the user
called, and ``name``, the argument that the labels were passed as. Both appear in error
messages.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import column_or_1d

from skpresto._label_types import array_of_labels

Labels = NDArray[Any]
Codes = NDArray[Any]

PART_SIZE = 2**18
"""Labels processed at a time: many for numpy, few enough for the processor's cache."""

_MAX_TABLE_SIZE = 2**20
_NUMERIC = "biuf"

# Names, because pandas is not a dependency.
_PANDAS_MISSING = {"NAType", "NaTType"}


def parts(n_samples: int, size: int = PART_SIZE) -> Iterator[slice]:
    """Split ``range(n_samples)`` into consecutive slices of at most ``size``.

    Examples
    --------
    >>> list(parts(5, size=3))
    [slice(0, 3, None), slice(3, 5, None)]
    """
    for start in range(0, n_samples, size):
        yield slice(start, min(start + size, n_samples))


def label_vector(
    y: Any, owner: str, name: str = "y", *, hint_if_not_1d: str = ""
) -> Labels:
    """Return labels as a 1-D array, and raise if they are not class labels.

    Parameters
    ----------
    y : array-like of shape (n_samples,) or (n_samples, 1)
        Labels of any type. A column vector is flattened with scikit-learn's
        ``DataConversionWarning``.
    owner : str
        Name of the estimator or function, for error messages.
    name : str, default="y"
        Name of the argument, for error messages.
    hint_if_not_1d : str, default=""
        Sentence to add to the error message for an array that is not 1-D.

    Returns
    -------
    labels : ndarray of shape (n_samples,)
        The labels. It may share memory with ``y``.

    Raises
    ------
    ValueError
        If ``y`` is None, is not 1-D, contains missing values (None, NaN, NaT, infinity
        or ``pandas.NA``), or contains floats that are not whole numbers.
    """
    if y is None:
        raise ValueError(
            f"{owner} requires {name} to be passed, but the target {name} is None. "
            "Pass one label per sample."
        )
    labels = _one_dimensional(y, owner, name, hint_if_not_1d)
    if _has_missing(y, labels):
        raise ValueError(
            f"{owner} needs a label for every sample, but {name} contains missing "
            "values (None, NaN, NaT, infinity or pandas.NA). Remove these samples, or "
            "give them a class of their own."
        )
    if labels.dtype.kind == "f" and np.any(labels != np.floor(labels)):
        example = labels[labels != np.floor(labels)][0]
        raise ValueError(
            f"Unknown label type: continuous. {owner} needs class labels, but {name} "
            f"contains fractional numbers such as {example}. Convert the values to "
            "classes first, for example with numpy.digitize."
        )
    return labels


def _one_dimensional(y: Any, owner: str, name: str, hint: str) -> Labels:
    labels = array_of_labels(y, owner, name)
    # numpy sees no shape in a sparse matrix
    shape = np.shape(labels) or getattr(y, "shape", ())
    if len(shape) == 2 and shape[1] == 1 and labels.ndim == 2:
        return column_or_1d(labels, warn=True)
    if labels.ndim != 1:
        message = (
            f"{owner} needs a 1-D {name} with one label per sample, but got an array "
            f"of shape {tuple(shape)}. Convert one-hot rows to labels with "
            f"{name}.argmax(axis=1). {hint}"
        )
        raise ValueError(message.rstrip())
    return labels


def _has_missing(y: Any, labels: Labels) -> bool:
    if np.ma.is_masked(y):
        return True
    if labels.dtype.kind == "f":
        return not np.isfinite(labels).all()
    if labels.dtype.kind in "mM":
        return bool(np.isnat(labels).any())
    if labels.dtype.kind != "O":
        return False
    if hasattr(y, "isna"):
        return bool(np.any(y.isna()))
    return any(map(_is_missing, labels))


def _is_missing(value: Any) -> bool:
    if isinstance(value, (float, np.floating)):
        return not np.isfinite(value)
    return value is None or type(value).__name__ in _PANDAS_MISSING


def classes_of(labels: Labels, owner: str, name: str = "y") -> Labels:
    """Return the distinct labels, sorted, as ``numpy.unique`` does.

    Whole numbers that are close together are not sorted, which is faster. Raises
    ``ValueError`` if there are no labels, and ``TypeError`` if they cannot be sorted,
    such as a mixture of strings and numbers.
    """
    if not len(labels):
        raise ValueError(
            f"{owner} needs at least one label to find the classes, but {name} is "
            "empty."
        )
    span = _table_span(labels)
    if span is not None:
        low, high = span
        seen = np.zeros(high - low + 1, dtype=bool)
        for part in parts(len(labels)):
            seen[_offsets(labels[part], low)] = True
        return (np.flatnonzero(seen) + low).astype(labels.dtype)
    try:
        found = [np.unique(labels[part]) for part in parts(len(labels))]
        return np.unique(np.concatenate(found))
    except TypeError as error:
        kinds = sorted({type(label).__name__ for label in labels})
        raise TypeError(
            f"{owner} needs labels of one type that can be sorted, but {name} contains "
            f"{' and '.join(kinds)}. Convert them first, for example to strings."
        ) from error


def _table_span(labels: Labels) -> tuple[int, int] | None:
    """Return the lowest and highest label if a lookup table of that range is small.

    None if the labels are not whole numbers, or too far apart.
    """
    if labels.dtype.kind not in "biu" or not len(labels):
        return None
    low, high = int(labels.min()), int(labels.max())
    if high - low >= _MAX_TABLE_SIZE or low < -(2**62) or high > 2**62:
        return None
    return low, high


def _offsets(labels: Labels, low: int) -> NDArray[np.intp]:
    return np.subtract(labels, low, dtype=np.intp, casting="unsafe")


def encode(
    labels: Labels,
    classes: Labels,
    owner: str,
    name: str = "y",
    *,
    way_out: str = "fit on labels of all classes",
) -> Codes:
    """Return the class number of each label.

    Parameters
    ----------
    labels : ndarray of shape (n_samples,)
        Labels as returned by :func:`label_vector`.
    classes : ndarray of shape (n_classes,)
        Sorted classes as returned by :func:`classes_of`.
    owner : str
        Name of the estimator or function, for error messages.
    name : str, default="y"
        Name of the argument, for error messages.
    way_out : str
        What the user can do, other than removing samples, if a label is not among the
        classes. Ends the sentence "Remove these samples, or ...".

    Returns
    -------
    codes : ndarray of shape (n_samples,)
        Numbers 0 to n_classes - 1, of the smallest unsigned integer dtype that holds
        ``n_classes``.

    Raises
    ------
    ValueError
        If a label is not among the classes.

    Examples
    --------
    >>> import numpy as np
    >>> encode(np.array(["dog", "cat"]), np.array(["cat", "dog"]), "Example")
    array([1, 0], dtype=uint8)
    """
    codes = np.empty(len(labels), dtype=np.min_scalar_type(len(classes)))
    kinds = {labels.dtype.kind, classes.dtype.kind}
    if _table_span(classes) and _table_span(labels):
        lookup = _table_lookup
    elif kinds <= set(_NUMERIC) or (len(kinds) == 1 and "O" not in kinds):
        lookup = _sorted_lookup
    else:
        lookup = _dict_lookup
    lookup(labels, classes, codes)
    # Labels outside of the classes have been given the number n_classes.
    if len(codes) and codes.max() == len(classes):
        outside = labels[codes == len(classes)].tolist()
        raise ValueError(
            f"{owner} has the classes "
            f"{shortened(list(map(repr, classes.tolist())))}, but {name} contains "
            "labels that are not among them: "
            f"{shortened(sorted(set(map(repr, outside))))}. Remove these samples, or "
            f"{way_out}."
        )
    return codes


def _table_lookup(labels: Labels, classes: Labels, codes: Codes) -> None:
    low, high = int(classes[0]), int(classes[-1])
    # One more entry at either end, to which labels outside of the range are clipped.
    table = np.full(high - low + 3, len(classes), dtype=codes.dtype)
    table[_offsets(classes, low - 1)] = np.arange(len(classes))
    for part in parts(len(labels)):
        np.take(table, _offsets(labels[part], low - 1), out=codes[part], mode="clip")


def _sorted_lookup(labels: Labels, classes: Labels, codes: Codes) -> None:
    for part in parts(len(labels)):
        place = np.searchsorted(classes, labels[part])
        found = classes[np.minimum(place, len(classes) - 1)] == labels[part]
        codes[part] = np.where(found, place, len(classes))


def _dict_lookup(labels: Labels, classes: Labels, codes: Codes) -> None:
    number = {label: code for code, label in enumerate(classes.tolist())}
    for part in parts(len(labels)):
        codes[part] = [
            number.get(label, len(classes)) for label in labels[part].tolist()
        ]


def decode(codes: Codes, classes: Labels) -> Labels:
    """Return the labels of class numbers, in a new array of the classes' dtype."""
    labels = np.empty(len(codes), dtype=classes.dtype)
    for part in parts(len(codes)):
        np.take(classes, codes[part], out=labels[part], mode="clip")
    return labels


def in_kind_of(y: Any, labels: Labels, owner: str, name: str = "y") -> Any:
    """Return ``labels`` as a Series if ``y`` is one, with its index, name and dtype.

    Otherwise return ``labels`` themselves. Raises ``ValueError`` if ``y`` is
    categorical and lacks a category for one of the labels.
    """
    if not (hasattr(y, "iloc") and np.ndim(y) == 1):
        return labels
    dtype = labels.dtype if labels.dtype.kind in _NUMERIC else y.dtype
    if not isinstance(y.dtype, np.dtype):
        dtype = y.dtype
    categories = getattr(y.dtype, "categories", None)
    lost = set() if categories is None else set(labels.tolist()) - set(categories)
    if lost:
        raise ValueError(
            f"{owner} returns labels that are not among the categories of {name}: "
            f"{shortened(sorted(map(repr, lost)))}. Pass {name} with the categories "
            "seen in fit."
        )
    return type(y)(labels, index=y.index, name=y.name, dtype=dtype)


def shortened(names: list[str]) -> str:
    """Join the first five names, and say how many there are beyond them."""
    more = f" and {len(names) - 5} more" if len(names) > 5 else ""
    return ", ".join(names[:5]) + more
