"""Label vectors: checked on the way in, numbered, and given back in kind.

Every injector works on class numbers; this is the only file that knows what
labels may look like outside. Long vectors are handled part by part, so that no
step holds more than a few bytes a label.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import column_or_1d

Labels = NDArray[Any]
Codes = NDArray[Any]

PART = 2**18
"""Labels handled at a time: large for numpy, small for the processor's cache."""

_WIDEST_TABLE = 2**20
_NUMERIC = "biuf"


def parts(n_samples: int, size: int = PART) -> Iterator[slice]:
    """Cut ``range(n_samples)`` into slices of at most ``size`` samples."""
    return (slice(i, min(i + size, n_samples)) for i in range(0, n_samples, size))


def label_vector(y: Any, owner: str) -> Labels:
    """Return ``y`` as a 1-D array of class labels, or say what is wrong with it."""
    if y is None:
        raise ValueError(
            f"{owner} requires y to be passed, but the target y is None. "
            "Pass the labels that noise should go into."
        )
    labels = _one_dimensional(y, owner)
    _refuse_missing(y, labels, owner)
    if labels.dtype.kind == "f" and np.any(labels != np.floor(labels)):
        example = labels[labels != np.floor(labels)][0]
        raise ValueError(
            f"Unknown label type: continuous. {owner} needs class labels, but y holds "
            f"fractions such as {example}. Cut the values into classes first, "
            "for example with numpy.digitize."
        )
    return labels


def _one_dimensional(y: Any, owner: str) -> Labels:
    labels = np.asarray(y)
    shape = np.shape(labels) or getattr(y, "shape", ())
    if len(shape) == 2 and shape[1] == 1 and labels.ndim == 2:
        return column_or_1d(labels, warn=True)
    if labels.ndim != 1:
        raise ValueError(
            f"{owner} needs a 1-D y, one label a sample, but got an array of shape "
            f"{tuple(shape)}. Turn one-hot rows into labels with y.argmax(axis=1). If "
            "this is the X of a scikit-learn Pipeline, whose steps cannot change y, "
            "use NoisyTargetClassifier or the Pipeline of imbalanced-learn instead."
        )
    return labels


def _refuse_missing(y: Any, labels: Labels, owner: str) -> None:
    if _holds_missing(y, labels):
        raise ValueError(
            f"{owner} needs a label for every sample, but y holds missing values "
            "(NaN, infinity or None). Drop these samples, or give them a class of "
            "their own."
        )


def _holds_missing(y: Any, labels: Labels) -> bool:
    if labels.dtype.kind == "f":
        return not np.isfinite(labels).all()
    if labels.dtype.kind in "mM":
        return bool(np.isnat(labels).any())
    if labels.dtype.kind != "O":
        return False
    if hasattr(y, "isna"):
        return bool(y.isna().any())
    return any(map(_is_missing, labels))


def _is_missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and not np.isfinite(value))


def classes_of(labels: Labels, owner: str) -> Labels:
    """Return the distinct labels, sorted."""
    if not len(labels):
        raise ValueError(
            f"{owner} needs at least one label to learn the classes from, "
            "but y is empty."
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
            f"{owner} needs labels of one kind that can be sorted, but y holds "
            f"{' and '.join(kinds)}. Convert them first, for example to strings."
        ) from error


def _table_span(labels: Labels) -> tuple[int, int] | None:
    """Return lowest and highest of whole numbers that lie close enough for a table.

    With a table there is no need to sort.
    """
    if labels.dtype.kind not in "biu" or not len(labels):
        return None
    low, high = int(labels.min()), int(labels.max())
    if high - low >= _WIDEST_TABLE or low < -(2**62) or high > 2**62:
        return None
    return low, high


def _offsets(labels: Labels, low: int) -> NDArray[np.intp]:
    return np.subtract(labels, low, dtype=np.intp, casting="unsafe")


def encode(
    labels: Labels, classes: Labels, owner: str, unseen_by: str = "fit never saw"
) -> Codes:
    """Return the number of each label's class, in the smallest type that holds it."""
    codes = np.empty(len(labels), dtype=np.min_scalar_type(len(classes)))
    kinds = {labels.dtype.kind, classes.dtype.kind}
    if _table_span(classes) and _table_span(labels):
        lookup = _table_lookup
    elif kinds <= set(_NUMERIC) or (len(kinds) == 1 and "O" not in kinds):
        lookup = _sorted_lookup
    else:
        lookup = _dict_lookup
    lookup(labels, classes, codes)
    # a label outside the classes was given the number after the last class
    if len(codes) and codes.max() == len(classes):
        outside = labels[codes == len(classes)].tolist()
        raise ValueError(
            f"{owner} knows {len(classes)} classes, but got labels that {unseen_by}: "
            f"{_shortened(sorted(set(map(repr, outside))))}. Make every class known, "
            "or drop these samples."
        )
    return codes


def _table_lookup(labels: Labels, classes: Labels, codes: Codes) -> None:
    low, high = int(classes[0]), int(classes[-1])
    # one place more at either end, where all labels beyond the classes are sent
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
    """Return the labels that class numbers stand for."""
    labels = np.empty(len(codes), dtype=classes.dtype)
    for part in parts(len(codes)):
        np.take(classes, codes[part], out=labels[part], mode="clip")
    return labels


def in_kind_of(y: Any, labels: Labels, owner: str) -> Any:
    """Return ``labels`` as a Series if ``y`` is one, with its index and name."""
    if not (hasattr(y, "iloc") and np.ndim(y) == 1):
        return labels
    dtype = labels.dtype if labels.dtype.kind in _NUMERIC else y.dtype
    if not isinstance(y.dtype, np.dtype):
        dtype = y.dtype
    categories = getattr(y.dtype, "categories", None)
    lost = set() if categories is None else set(labels.tolist()) - set(categories)
    if lost:
        raise ValueError(
            f"{owner} drew labels that the categories of y do not hold: "
            f"{_shortened(sorted(map(repr, lost)))}. Pass a y with the categories seen "
            "in fit."
        )
    return type(y)(labels, index=y.index, name=y.name, dtype=dtype)


def _shortened(names: list[str]) -> str:
    more = f" and {len(names) - 5} more" if len(names) > 5 else ""
    return ", ".join(names[:5]) + more
