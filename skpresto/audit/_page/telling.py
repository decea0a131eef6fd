"""The feature values by which a sample differs most from its given class."""

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import norm

Floats = NDArray[np.float64]

N_SHOWN = 4
#: Scores are cut off, so that features with tiny deviations do not always win.
_MAX_SCORE = 10.0
#: Fewer accepted samples than this, and all samples of a class describe it.
_FEW = 5
#: The median absolute deviation of a normal distribution, times this, is its deviation.
_MAD_SCALE = 1.4826


def short(value: Any, longest: int) -> str:
    """Return a value as one text of limited length.

    Examples
    --------
    >>> short("a long story", 8)
    'a long …'
    """
    text = "" if value is None or value is pd.NA else str(value)
    return text if len(text) <= longest else text[: longest - 1] + "…"


class TellingFeatures:
    """Find and describe the telling features of samples.

    Numbers and dates are scored by robust z-scores: the distance from the median of the
    given class, in units of its median absolute deviation. Categories are scored by the
    z-score that is as rare as the category in the given class. Labels that are accepted
    describe a class.

    Parameters
    ----------
    frame : DataFrame
        The columns.
    report : LabelReport
        For given and suggested labels.
    """

    def __init__(self, frame: pd.DataFrame, report: Any) -> None:
        self._given, self._suggested = report.given, report.suggested
        members = [
            _members(report.given == k, report.is_suspect)
            for k in range(len(report.classes))
        ]
        self._columns = [
            _Number(name, frame[name], members)
            if _is_number(frame[name])
            else _Category(name, frame[name], members)
            for name in frame.columns
        ]

    def of(self, positions: NDArray[np.intp]) -> list[list[tuple[str, ...]]]:
        """Return the telling features of each sample.

        Each feature is a tuple of its name, its value, and what is typical for the
        given and for the suggested class.
        """
        given, suggested = self._given[positions], self._suggested[positions]
        scores = np.stack(
            [column.scores(positions, given) for column in self._columns], axis=1
        )
        best = np.argsort(-scores, axis=1, kind="stable")[:, :N_SHOWN]
        return [
            [
                self._columns[column].describe(position, *classes)
                for column in columns
                if scores[row, column] > 0
            ]
            for row, (position, columns, *classes) in enumerate(
                zip(positions, best, given, suggested, strict=True)
            )
        ]

    def values(self, position: int, names: list[str]) -> list[tuple[str, str]]:
        """Return name and value of some columns of a sample."""
        columns = {column.name: column for column in self._columns}
        return [(name, columns[name].value(position)) for name in names]


class _Number:
    """A column of numbers, dates or durations."""

    def __init__(self, name: Any, column: pd.Series, members: list[Any]) -> None:
        self.name = short(name, 60)
        self.column = column
        self.values = _as_floats(column)
        of_class = [pd.Series(self.values[rows]) for rows in members]
        self.medians = np.array([values.median() for values in of_class])
        self.spreads = np.array([_spread(values) for values in of_class])

    def scores(self, positions: NDArray[np.intp], classes: NDArray[Any]) -> Floats:
        distance = np.abs(self.values[positions] - self.medians[classes])
        spread = self.spreads[classes]
        with np.errstate(divide="ignore", invalid="ignore"):
            score = np.where(distance == 0, 0.0, distance / spread)
        return np.minimum(np.nan_to_num(score, nan=0.0), _MAX_SCORE)

    def describe(self, position: int, given: int, suggested: int) -> tuple[str, ...]:
        typical = (self._text(self.medians[given]), self._text(self.medians[suggested]))
        return (self.name, self.value(position), *typical)

    def value(self, position: int) -> str:
        return self._text(self.values[position])

    def _text(self, value: float) -> str:
        if np.isnan(value):
            return "missing"
        if pd.api.types.is_datetime64_any_dtype(self.column.dtype):
            return str(np.datetime64(int(np.floor(value)), "s").astype("M8[D]"))
        return f"{value:,.0f}" if value % 1 == 0 else f"{value:.4g}"


class _Category:
    """A column of categories."""

    def __init__(self, name: Any, column: pd.Series, members: list[Any]) -> None:
        self.name = short(name, 60)
        self.codes, self.values = pd.factorize(_as_texts(column))
        n_values = len(self.values)
        counts = [np.bincount(self.codes[rows], minlength=n_values) for rows in members]
        self.fractions = np.array([c / max(c.sum(), 1) for c in counts])

    def scores(self, positions: NDArray[np.intp], classes: NDArray[Any]) -> Floats:
        fraction = self.fractions[classes, self.codes[positions]]
        return np.minimum(norm.isf(fraction / 2), _MAX_SCORE / 2)

    def describe(self, position: int, given: int, suggested: int) -> tuple[str, ...]:
        code = self.codes[position]
        typical = (f"{100 * self.fractions[k, code]:.0f} %" for k in (given, suggested))
        return (self.name, self.value(position), *typical)

    def value(self, position: int) -> str:
        return short(self.values[self.codes[position]], 60)


def _members(is_member: NDArray[np.bool_], is_suspect: NDArray[np.bool_]) -> Any:
    accepted = is_member & ~is_suspect
    return accepted if accepted.sum() >= _FEW else is_member


def _is_number(column: pd.Series) -> bool:
    is_date = pd.api.types.is_datetime64_any_dtype(column.dtype)
    is_bool = pd.api.types.is_bool_dtype(column.dtype)
    return is_date or (pd.api.types.is_numeric_dtype(column.dtype) and not is_bool)


def _as_floats(column: pd.Series) -> Floats:
    if pd.api.types.is_datetime64_any_dtype(column.dtype):
        return _seconds(column)
    return column.to_numpy(dtype=np.float64, na_value=np.nan)


def _seconds(column: pd.Series) -> Floats:
    """Return seconds since 1970, NaN for none; nanoseconds end in the year 2262."""
    # A cache would need each date as one of Python's, which far ones are not.
    dates = pd.to_datetime(column, utc=True, cache=False)
    ticks = dates.astype("int64").to_numpy(dtype=np.float64)
    ticks_per_second = np.timedelta64(1, "s") / np.timedelta64(1, dates.dt.unit)
    return np.where(column.isna().to_numpy(), np.nan, ticks / ticks_per_second)


def _as_texts(column: pd.Series) -> NDArray[Any]:
    texts = column.astype("str").to_numpy(dtype=object)
    return np.where(column.isna().to_numpy(), "missing", texts)


def _spread(values: pd.Series) -> float:
    """Return a robust deviation; the usual one where more than half are equal."""
    deviation = _MAD_SCALE * float((values - values.median()).abs().median())
    return deviation or float(values.std(ddof=0))
