"""Accepted labels most similar to a suspect: of its given and its suggested class."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import pairwise_distances_argmin

from skpresto._label_quality.features import numeric_features
from skpresto._sklearn import _safe_indexing

Positions = NDArray[np.intp]

#: The first suspects, for which similar labels are found, and the accepted labels of a
#: class among which they are looked for: a second for 100,000 rows.
_MOST_SUSPECTS, _MOST_OF_CLASS = 1000, 2000
#: Numbers of an image that are compared, about.
_N_PIXELS = 1024
_MAX_DEVIATION = 5.0


def most_similar(report: Any, suspects: Positions) -> NDArray[np.intp]:
    """Return the nearest accepted samples of the given and of the suggested class.

    By the samples that the audit was fitted on, if they are numbers, and by the most
    probable classes otherwise.

    Parameters
    ----------
    report : LabelReport
        The report.
    suspects : ndarray of int
        Positions of the suspects, the most suspect first.

    Returns
    -------
    nearest : ndarray of shape (n_first, 2)
        Positions, of at most the first 1,000 suspects; -1 where a class has no accepted
        label.
    """
    first = suspects[:_MOST_SUSPECTS]
    nearest = np.full((len(first), 2), -1, dtype=np.intp)
    if not len(first):
        return nearest
    accepted = _accepted_by_class(report)
    wanted = np.stack([report.given[first], report.suggested[first]], axis=1)
    used = [accepted[k] for k in np.unique(wanted)]
    rows = np.unique(np.concatenate([first, *used]))
    features = _features(report, rows)
    if features is None:
        return nearest
    for k in np.unique(wanted):
        if not len(accepted[k]):
            continue
        among = features[np.searchsorted(rows, accepted[k])]
        for column in range(2):
            queries = np.flatnonzero(wanted[:, column] == k)
            if len(queries):
                looked_up = features[np.searchsorted(rows, first[queries])]
                found = pairwise_distances_argmin(looked_up, among)
                nearest[queries, column] = accepted[k][found]
    return nearest


def similar_samples(
    report: Any, view: Any, suspects: Positions, items: dict[str, list[Any]], names: Any
) -> list[list[dict[str, str] | None]]:
    """Return what is shown of the samples most similar to each of the first suspects.

    Parameters
    ----------
    report : LabelReport
        The report.
    view : SampleView
        Shows the samples.
    suspects : ndarray of int
        Positions of the suspects, the most suspect first.
    items : dict of str to list
        What the page shows of the suspects.
    names : callable
        Returns what a sample is called, by its position.

    Returns
    -------
    similar : list
        One pair for each of the first suspects, as far as they fit into a page: of the
        given and of the suggested class, None where it has no accepted label.
    """
    shown, space = [], view.space_for_similar
    for i, pair in enumerate(most_similar(report, suspects).tolist()):
        features = items["features"][i] if "features" in items else []
        found = [
            None if k < 0 else {"name": names(k), **view.brief(k, features)}
            for k in pair
        ]
        space -= sum(len(text) for one in found if one for text in one.values())
        if space < 0:
            break
        shown.append(found)
    return shown


def _accepted_by_class(report: Any) -> list[Positions]:
    """Return accepted samples of each class, drawn at random if there are many."""
    rng = np.random.RandomState(0)
    is_accepted = ~report.is_suspect
    members = [
        np.flatnonzero(is_accepted & (report.given == k))
        for k in range(len(report.classes))
    ]
    return [np.sort(rng.permutation(m)[:_MOST_OF_CLASS]) for m in members]


def _features(report: Any, rows: Positions) -> NDArray[np.float32] | None:
    """Return what some samples are compared by, one row of numbers each."""
    X = report.X
    if getattr(X, "ndim", None) == 4:
        pixels = np.asarray(X[rows], dtype=np.float32).reshape(len(rows), -1)
        return pixels[:, :: max(pixels.shape[1] // _N_PIXELS, 1)]
    numbers = None if X is None else numeric_features(_safe_indexing(X, rows))
    if numbers is not None:
        return numbers if hasattr(numbers, "tocsr") else _comparable(numbers, X)
    if report.likeliest is None:
        return None
    likeliest = report.likeliest
    probability = np.zeros((len(rows), len(report.classes)), dtype=np.float32)
    np.put_along_axis(
        probability, likeliest.classes[rows], likeliest.probability[rows], axis=1
    )
    return probability


def _comparable(numbers: NDArray[Any], X: Any) -> NDArray[np.float32]:
    """Return numbers without missing values; columns of a DataFrame count alike."""
    is_missing = ~np.isfinite(numbers)
    known = np.where(is_missing, np.nan, numbers)
    known[:, is_missing.all(axis=0)] = 0
    center = np.nanmean(known, axis=0)
    centered = np.where(is_missing, 0.0, known - center)
    if hasattr(X, "columns"):
        spread = centered.std(axis=0)
        scaled = centered / np.where(spread > 0, spread, 1.0)
        centered = np.clip(scaled, -_MAX_DEVIATION, _MAX_DEVIATION)
    return centered.astype(np.float32)
