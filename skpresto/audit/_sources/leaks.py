"""Columns that give the labels away, wrong ones included.

What was measured of a sample cannot foretell how its label was mistaken. A column that
does was made from the given labels: a copy of them, or a number of the row in a file
that is sorted by them. Learned from, it makes every wrong label look right.
"""

import re

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from skpresto.audit._sources.identifiers import (
    NEARLY_ALL,
    as_integers,
    has_different_values,
)

Codes = NDArray[np.intp]

_MOST_ROWS, _FEWEST_ROWS = 20_000, 50
#: Changes of the label from row to row, as a fraction of those in random order, up to
#: which labels come in blocks.
_IN_BLOCKS = 0.05
#: Rank correlation with the row from which on a column follows the rows, in the whole
#: file, and on average within the rows of a class.
_FOLLOWS, _FOLLOWS_IN_CLASS = 0.98, 0.8
#: Mean quantile of the gaps between classes from which on they were measured.
_APART = 0.9
#: Words of a text that may name a row.
_WORDS_OF_NAME = 4


class LeakCheck:
    """Find columns that predict the given labels better than measurements can.

    Parameters
    ----------
    labels : array of shape (n_rows,)
        Given labels.
    """

    def __init__(self, labels: NDArray[np.str_]) -> None:
        self._codes, classes = pd.factorize(labels)
        self._n_classes = len(classes)
        step = -(-len(labels) // _MOST_ROWS)
        self._rows = np.arange(len(labels))[::step]
        counts = np.bincount(self._codes[self._rows])
        fractions = counts / counts.sum()
        self._random_changes = counts.sum() * (1 - (fractions**2).sum())
        self._is_sorted = self._in_blocks(self._codes[self._rows])

    def leak(self, column: pd.Series) -> str | None:
        """Return how a column gives the labels away, in words; None if it does not."""
        if len(column) < _FEWEST_ROWS:
            return None
        if self._is_made_of_labels(column):
            return "each class has one value of it, as if it was made from the label"
        part = column.iloc[self._rows]
        order = _order(part)
        if order is None:
            return None
        is_known = part.notna().to_numpy()
        if is_known.mean() < 0.5:
            return None
        codes, order = self._codes[self._rows][is_known], order[is_known]
        if has_different_values(part.dropna()):
            by_value = np.argsort(order, kind="stable")
            is_apart = _is_float(column) and _are_apart(
                order[by_value], codes[by_value]
            )
            if self._in_blocks(codes[by_value]) and not is_apart:
                return "sorted by it, the labels come in blocks"
        has_many = len(np.unique(order)) >= 2 * self._n_classes
        if self._is_sorted and has_many and self._follows_rows(order, codes):
            return "it follows the rows of a file that is sorted by the label"
        return None

    def _is_made_of_labels(self, column: pd.Series) -> bool:
        """Return whether every class has a value of its own, or shares it."""
        if len(pd.unique(column.iloc[self._rows])) > self._n_classes + 1:
            return False
        values, known = pd.factorize(column)
        if not 2 <= len(known) <= self._n_classes or (values >= 0).mean() < 0.9:
            return False
        pairs = np.unique(np.stack([self._codes, values])[:, values >= 0], axis=1)
        return bool(len(np.unique(pairs[0])) == pairs.shape[1])

    def _in_blocks(self, codes: Codes) -> bool:
        """Return whether labels in some order hardly change from row to row."""
        n_changes = np.count_nonzero(np.diff(codes))
        few = max(_IN_BLOCKS * self._random_changes, self._n_classes - 1)
        return bool(n_changes <= min(few, 0.5 * self._random_changes))

    def _follows_rows(self, order: NDArray[np.float64], codes: Codes) -> bool:
        """Return whether a column rises or falls with the rows, in each class, too."""
        rows = np.arange(len(order))
        if abs(_rank_correlation(order, rows)) < _FOLLOWS:
            return False
        classes = [codes == k for k in np.unique(codes)]
        within = [
            abs(_rank_correlation(order[is_member], rows[is_member]))
            for is_member in classes
        ]
        sizes = [is_member.sum() for is_member in classes]
        return bool(np.average(within, weights=sizes) >= _FOLLOWS_IN_CLASS)


def _are_apart(values: NDArray[np.float64], codes: Codes) -> bool:
    """Return whether sorted values have wider gaps between classes than within them.

    Measurements by which classes differ do; running numbers do not.
    """
    gaps = np.diff(values)
    between = np.diff(codes) != 0
    is_below = [float(np.mean(gaps < gap)) for gap in gaps[between]]
    return bool(np.mean(is_below) >= _APART)


def _is_float(column: pd.Series) -> bool:
    is_float = pd.api.types.is_float_dtype(column.dtype)
    return bool(is_float) and as_integers(column.dropna()) is None


def _order(column: pd.Series) -> NDArray[np.float64] | None:
    """Return numbers by which a column can be sorted, NaN where it has no value."""
    if _is_float(column):
        return column.to_numpy(dtype=np.float64, na_value=np.nan)
    is_date = pd.api.types.is_datetime64_any_dtype(column.dtype)
    if is_date or pd.api.types.is_numeric_dtype(column.dtype):
        return column.rank(method="dense").to_numpy(dtype=np.float64)
    if column.dtype != object and not pd.api.types.is_string_dtype(column.dtype):
        return None
    values = [str(value) for value in column.tolist()]
    if not _are_names(values):
        return None
    ranks = {value: i for i, value in enumerate(sorted(set(values), key=_natural))}
    ordered = np.array([ranks[value] for value in values], dtype=np.float64)
    return np.where(column.notna().to_numpy(), ordered, np.nan)


def _are_names(values: list[str]) -> bool:
    """Return whether texts are short and have digits: others are read, not sorted.

    Words of several languages, for example, are in blocks by their alphabet.
    """
    is_name = [
        len(value.split()) <= _WORDS_OF_NAME and any(c.isdigit() for c in value)
        for value in values
    ]
    return bool(np.mean(is_name) >= NEARLY_ALL)


def _natural(text: str) -> tuple[tuple[str, int], ...]:
    """Return a key that sorts "a2" before "a10"."""
    parts = re.findall(r"(\D*)(\d*)", text)
    return tuple((word, int(number[:18] or -1)) for word, number in parts)


def _rank_correlation(values: NDArray[np.float64], rows: Codes) -> float:
    if len(values) < 3 or np.ptp(values) == 0:
        return 0.0
    ranks = pd.Series(values).rank().to_numpy()
    return float(np.corrcoef(ranks, rows)[0, 1])
