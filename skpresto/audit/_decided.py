"""Which labels are suspects, and what is suggested for them."""

from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skpresto._label_quality.likeliest import Likeliest
from skpresto._labels import Codes
from skpresto.noise._counts import joint_counts


def safe_by(
    threshold: float | None, quality: NDArray[np.float64], owner: str
) -> dict[str, Any]:
    """Return the field ``is_safe`` by a threshold; no field if there is none.

    Parameters
    ----------
    threshold : float or None
        Labels of a lower quality are suspects.
    quality : ndarray of shape (n_samples,)
        Label quality.
    owner : str
        Name of the function that the user called, for error messages.
    """
    if threshold is None:
        return {}
    if not isinstance(threshold, Real) or not 0 <= float(threshold) <= 1:
        raise ValueError(
            f"{owner} needs a threshold between 0 and 1, got {threshold!r}. It is "
            "compared with the quality of labels, of which lower means likely wrong."
        )
    return {"is_safe": quality >= float(threshold)}


def check_number(
    report: Any, number: int, method: str, name: str, most: float | None = None
) -> None:
    """Raise unless a number of labels of a report is possible."""
    most = len(report) if most is None else most
    if isinstance(number, Integral) and 0 <= number <= most:
        return
    raise ValueError(
        f"{type(report).__name__}.{method} needs {name} to be an integer from 0 to "
        f"{most}, got {number!r}. There are {len(report)} labels."
    )


def another_class(
    given: Codes,
    suggested: NDArray[np.intp],
    likeliest: Likeliest | None,
    is_suspect: NDArray[np.bool_],
    n_classes: int,
) -> NDArray[np.intp]:
    """Return suggestions of which none is the given label of a suspect.

    The quality of a label can be low though no single other class is likelier. Then the
    likeliest other class is suggested or, where it is not known, the one that is
    suggested most often for labels of this class.

    Parameters
    ----------
    given, suggested : ndarray of shape (n_samples,)
        Class numbers.
    likeliest : Likeliest or None
        The most probable classes.
    is_suspect : ndarray of shape (n_samples,), dtype=bool
        Which labels are suspects.
    n_classes : int
        Number of classes. If there is one, nothing else can be suggested.

    Examples
    --------
    >>> given, suggested = np.array([0, 0, 0]), np.array([0, 2, 0])
    >>> another_class(given, suggested, None, np.array([True, True, False]), 3).tolist()
    [2, 2, 0]
    """
    is_same = is_suspect & (given == suggested)
    if n_classes < 2 or not is_same.any():
        return suggested
    if likeliest is not None:
        alternative = likeliest.besides(given)
    else:
        counts = joint_counts(given, suggested, n_classes)
        np.fill_diagonal(counts, -1)
        alternative = counts.argmax(axis=1)[given]
    return np.where(is_same, alternative, suggested)
