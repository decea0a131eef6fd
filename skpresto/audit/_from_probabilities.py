"""What out-of-fold probabilities say about labels, after checks."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skpresto._labels import (
    Codes,
    Labels,
    classes_of,
    encode,
    label_vector,
    shortened,
)
from skpresto.audit._constants import OUT_OF_FOLD
from skpresto.audit._evidence import planted_evidence
from skpresto.audit._probabilities import assess_labels

#: How much the probabilities of a row may miss 1, as those in half precision do.
_SUM_TOLERANCE = 1e-2


def fields_of_probabilities(
    pred_proba: Any, y: Any, classes: ArrayLike | None, owner: str
) -> dict[str, Any]:
    """Return what a report is made of, from out-of-fold probabilities.

    Parameters
    ----------
    pred_proba : array-like of shape (n_samples, n_classes)
        Out-of-fold probabilities.
    y : array-like of shape (n_samples,)
        Given labels.
    classes : array-like of shape (n_classes,) or None
        Labels of the columns.
    owner : str
        Name of the function that the user called, for error messages.
    """
    probability, given, names = checked_probabilities(pred_proba, y, classes, owner)
    found = assess_labels(probability, given)
    return {
        "given": given,
        "suggested": found.suggested,
        "likeliest": found.likeliest,
        "quality": found.quality,
        "is_safe": found.quality >= 0.5,
        "classes": names,
        "evidence": planted_evidence(OUT_OF_FOLD, found.planted),
        "method": "out-of-fold probabilities",
    }


def checked_probabilities(
    pred_proba: Any, y: Any, classes: ArrayLike | None, owner: str
) -> tuple[NDArray[np.float64], Codes, Labels]:
    """Return probabilities by sorted class, class numbers of labels, and classes."""
    labels = label_vector(y, owner)
    columns = getattr(pred_proba, "columns", None)
    if classes is None:
        classes = columns
    elif columns is not None:
        _check_same_order(list(columns), np.ravel(classes).tolist(), owner)
    probability = _probability_array(pred_proba, owner)
    if len(probability) != len(labels):
        raise ValueError(
            f"{owner} needs one row of probabilities per label, but pred_proba has "
            f"{len(probability)} rows and y has {len(labels)} labels."
        )
    names = _column_names(labels, classes, probability.shape[1], owner)
    order = np.argsort(names)
    codes = encode(
        labels, names[order], owner, way_out="pass the classes of all columns"
    )
    return probability[:, order], codes, names[order]


def _check_same_order(columns: list[Any], classes: list[Any], owner: str) -> None:
    if columns != classes and set(columns) == set(classes):
        raise ValueError(
            f"{owner} needs classes= in the order of the columns, but pred_proba has "
            f"the columns {shortened(list(map(repr, columns)))}, and classes= begins "
            f"with {classes[0]!r}. Leave out classes=: the columns have names."
        )


def _probability_array(pred_proba: Any, owner: str) -> NDArray[np.float64]:
    probability = np.asarray(pred_proba, dtype=np.float64)
    if probability.ndim != 2 or probability.shape[1] < 2:
        raise ValueError(
            f"{owner} needs probabilities of shape (n_samples, n_classes) with at "
            f"least two classes, got an array of shape {probability.shape}. For two "
            "classes, pass both columns of predict_proba."
        )
    if not np.isfinite(probability).all():
        raise ValueError(
            f"{owner} needs a probability for every sample and class, but pred_proba "
            "contains NaN or infinity."
        )
    sums = probability.sum(axis=1)
    is_off = (probability < 0).any(axis=1) | (np.abs(sums - 1) > _SUM_TOLERANCE)
    if is_off.any():
        row = int(is_off.argmax())
        raise ValueError(
            f"{owner} needs probabilities, with rows that sum to 1, but row {row} of "
            f"pred_proba sums to {sums[row]:.4g} with a lowest value of "
            f"{probability[row].min():.4g}. Convert scores first, such as logits by "
            "scipy.special.softmax(scores, axis=1)."
        )
    return probability / sums[:, None]


def _column_names(
    labels: Labels, classes: ArrayLike | None, n_columns: int, owner: str
) -> Labels:
    if classes is None:
        names = classes_of(labels, owner)
    else:
        names = label_vector(classes, owner, "classes")
    if len(names) != n_columns or len(classes_of(names, owner, "classes")) != n_columns:
        source = "y has" if classes is None else "classes has"
        raise ValueError(
            f"{owner} needs one class per column of pred_proba, which has {n_columns} "
            f"columns, but {source} {len(set(names.tolist()))} distinct values. Pass "
            "classes=, in the order of the columns."
        )
    return names
