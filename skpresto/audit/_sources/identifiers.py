"""Columns whose values only name the rows: numbers, hashes, file names, timestamps.

Nearly all values of an identifier are different, but so are those of a measurement or
of a text. What tells identifiers apart is that they were *assigned*: whole numbers
collide now and then if they are drawn independently, and those of a counter never do;
the characters of a hash are all equally frequent; the names of a series are one text
with a number.
"""

import re
from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import kstest

Integers = NDArray[np.int64]

#: Fraction of different values from which on a column may be an identifier.
NEARLY_ALL = 0.95
#: Rows that are looked at, of those with a value; and the fewest that tell anything.
_MOST_ROWS, _FEWEST_ROWS = 20_000, 20
#: Equal pairs that independent draws would have; with none, values were assigned.
#: And how many times as many as there are.
_MANY_COLLISIONS, _FAR_MORE = 10, 5
#: Digits of numbers that may have been drawn at random to name something.
_RANDOM_DIGITS = 7
#: Unix times of the years 1990 to 2100 in seconds, milli-, micro- and nanoseconds.
_UNIX_TIMES = [(631e6 * 1000**k, 4102e6 * 1000**k) for k in range(4)]
_FILE_ENDING = (
    r"\.(avi|bmp|csv|dcm|docx?|eml|flac|gif|html?|jpe?g|json|log|md|midi?|mov|mp[34]|"
    r"np[yz]|ogg|pdf|png|ppm|rtf|svg|tiff?|txt|wav|web[mp]|wma|xml|zip)"
)
_LONGEST_NAME = 64
_DATE = (
    r"\s*(\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|"
    r"\d{1,2}[-/. ](\d{1,2}|[A-Z][a-z]{2})[-/. ]\d{4})"
)
_UUID = r"\{?[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}\}?"
_HEX = r"(0x)?(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{8,}"


def identifier_kind(column: pd.Series) -> str | None:
    """Return what kind of identifier a column is, in words; None if it is none.

    Examples
    --------
    >>> identifier_kind(pd.Series(range(100, 400, 3)))
    'whole numbers that were given to the rows'
    >>> identifier_kind(pd.Series([f"IMG_{i:05}.jpg" for i in range(100)]))
    'file names'
    >>> identifier_kind(pd.Series(np.random.RandomState(0).normal(size=100)))
    """
    if is_row_number(plain(column)):
        return "row numbers"
    values = plain(column).dropna()
    if pd.api.types.is_float_dtype(values.dtype):
        values = values[np.isfinite(values.to_numpy(dtype=np.float64))]
    if not (len(values) >= _FEWEST_ROWS and has_different_values(values)):
        return None
    different = values.drop_duplicates()
    step = -(-len(different) // _MOST_ROWS)
    # Of independent values as many are equal as are expected to be.
    n_equal = (len(values) - len(different)) / step**2
    many = max(_MANY_COLLISIONS, _FAR_MORE * n_equal)
    looked_at = as_dates(different.iloc[::step])
    numbers = as_integers(looked_at)
    if numbers is not None:
        return _kind_of_numbers(numbers, _is_time(looked_at, numbers), many)
    if _is_text(looked_at):
        names = [str(value).strip() for value in looked_at.tolist()]
        return _kind_of_strings(names, many)
    return None


def _is_text(values: pd.Series) -> bool:
    return values.dtype == object or pd.api.types.is_string_dtype(values.dtype)


def is_moment(column: pd.Series) -> bool:
    """Return whether a column has another date or time in nearly every row."""
    values = plain(column).dropna()
    if len(values) < _FEWEST_ROWS or not (_is_text(values) or _is_date(values)):
        return False
    return _is_date(as_dates(values)) and has_different_values(values)


def _is_date(values: pd.Series) -> bool:
    return bool(pd.api.types.is_datetime64_any_dtype(values.dtype))


def plain(column: pd.Series) -> pd.Series:
    """Return a column of categories as a column of their values."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        return column.astype(column.cat.categories.dtype)
    return column


def is_row_number(column: pd.Series) -> bool:
    """Return whether a column counts the rows."""
    if len(column) < 3 or not pd.api.types.is_integer_dtype(column.dtype):
        return False
    return bool((column.diff().iloc[1:] == 1).all())


def as_dates(values: pd.Series) -> pd.Series:
    """Return strings that are dates as dates, and all other columns as they are."""
    if not _is_text(values):
        return values
    looks_like_date = re.compile(_DATE).match
    if not _most(looks_like_date(str(value)) for value in values.iloc[:50]):
        return values
    dates = pd.to_datetime(values, errors="coerce", format="mixed", utc=True)
    return dates.dropna() if dates.notna().mean() >= NEARLY_ALL else values


def has_different_values(values: pd.Series) -> bool:
    """Return whether nearly all values of a column are different."""
    try:
        return bool(values.nunique() >= NEARLY_ALL * max(len(values), 1))
    except TypeError:  # values that cannot be compared, such as lists
        return False


def as_integers(values: pd.Series) -> Integers | None:
    """Return whole numbers or dates without missing values as integers, or None."""
    dtype = values.dtype
    if pd.api.types.is_bool_dtype(dtype):
        return None
    if pd.api.types.is_datetime64_any_dtype(dtype):
        return pd.to_datetime(values, utc=True).astype("int64").to_numpy()
    if pd.api.types.is_timedelta64_dtype(dtype):
        return values.astype("int64").to_numpy()
    if pd.api.types.is_integer_dtype(dtype):
        return values.to_numpy(dtype=np.float64 if dtype == "uint64" else None).astype(
            np.int64
        )
    if pd.api.types.is_float_dtype(dtype):
        return _whole(values.to_numpy(dtype=np.float64))
    return None


def _whole(floats: NDArray[np.float64]) -> Integers | None:
    """Return whole numbers, or Unix times with fractions, as integers, or None."""
    if not (np.abs(floats) < 2**62).all():  # false for NaN, too
        return None
    low, high = _UNIX_TIMES[0]
    if ((low <= floats) & (floats <= high)).all():
        return (floats * 1e6).astype(np.int64)
    return floats.astype(np.int64) if (floats % 1 == 0).all() else None


def _is_time(values: pd.Series, numbers: Integers) -> bool:
    if pd.api.types.is_datetime64_any_dtype(values.dtype):
        return True
    low, high = int(numbers.min()), int(numbers.max())
    return any(a <= low and high <= b for a, b in _UNIX_TIMES)


def _kind_of_numbers(numbers: Integers, is_time: bool, many: float) -> str | None:
    """Return the kind of different integers, in the order of the rows.

    ``many`` is the expected number of collisions that shows that they were assigned.
    """
    were_assigned = expected_collisions(numbers) >= many
    steps = np.sign(np.diff(numbers))
    is_running = abs(int(steps.sum())) == len(steps)
    if is_time:
        return "running timestamps" if is_running or were_assigned else None
    if were_assigned:
        return "whole numbers that were given to the rows"
    return "random numbers" if _are_random(numbers) else None


def expected_collisions(numbers: Integers) -> float:
    """Return how many pairs would be equal if the values were independent draws.

    The values are those of a grid whose step is their greatest common divisor, and
    are drawn from their own density: the histogram with one bin per square root of n
    values. Different values, of which many pairs should be equal, were assigned.

    Examples
    --------
    >>> round(expected_collisions(np.arange(0, 3000, 3)))
    501
    >>> bool(expected_collisions(np.arange(100) ** 4) < 5)
    True
    """
    ordered = np.unique(numbers)
    gaps = np.diff(ordered.view(np.uint64))  # differences may exceed int64
    if not len(gaps):
        return 0.0
    step = float(np.gcd.reduce(gaps))
    edges = np.unique(np.linspace(0, len(gaps), int(len(gaps) ** 0.5) + 1).astype(int))
    widths = np.add.reduceat(gaps.astype(np.float64) / step, edges[:-1])
    n_values = np.diff(edges).astype(float) * len(ordered) / len(gaps)
    return round(float((n_values**2 / (2 * widths)).sum()), 6)


def _are_random(numbers: Integers) -> bool:
    """Return whether long numbers are uniform, as those drawn to name something."""
    magnitude = np.abs(numbers.astype(np.float64))
    if len(numbers) < 100 or np.median(magnitude) < 10 ** (_RANDOM_DIGITS - 1):
        return False
    low, high = float(numbers.min()), float(numbers.max())
    return bool(kstest(numbers, "uniform", (low, high - low)).pvalue > 0.001)


def _kind_of_strings(names: list[str], many: float) -> str | None:
    """Return the kind of different strings."""
    if _most(_is_file_name(name) for name in names):
        return "file names"
    if not _most(_is_one_word(name) for name in names):
        return None
    for pattern, kind in ((_UUID, "UUIDs"), (_HEX, "hashes")):
        has_pattern = re.compile(pattern, re.IGNORECASE).fullmatch
        is_long = len({len(name) for name in names}) <= 2 or kind == "UUIDs"
        if is_long and _most(has_pattern(name) for name in names):
            return kind
    if _are_random_characters(names):
        return "random characters"
    return "numbered names" if _are_numbered(names, many) else None


def _most(tests: Iterable[Any]) -> bool:
    return bool(np.mean([bool(test) for test in tests]) >= NEARLY_ALL)


def _is_one_word(name: str) -> bool:
    return 0 < len(name) <= _LONGEST_NAME and not re.search(r"\s", name)


def _is_file_name(name: str) -> bool:
    is_address = re.match("https?:", name)
    return not is_address and bool(re.search(f"{_FILE_ENDING}$", name, re.IGNORECASE))


def _are_random_characters(names: list[str]) -> bool:
    """Return whether strings of one length have all characters equally often."""
    lengths = Counter(map(len, names))
    length, n_names = lengths.most_common(1)[0]
    is_short = length < 6 or not names[0].isascii()
    if is_short or n_names < NEARLY_ALL * len(names):
        return False
    table = np.array([list(name) for name in names if len(name) == length])
    places = [Counter(column) for column in table.T]
    varying = [place for place in places if len(place) >= 10]
    if sum(len(place) > 1 for place in places) > 1.25 * len(varying) or not varying:
        return False
    total: Counter[str] = sum(varying, Counter())
    counts = np.array(sorted(total.values()))
    # Chance makes rare characters rarer: four deviations of a Poisson variable.
    mean = counts.mean()
    return len(varying) >= 5 and counts[0] >= mean / 1.5 - 4 * mean**0.5


def _are_numbered(names: list[str], many: float) -> bool:
    """Return whether names are few texts, each with a number that was assigned."""
    parts = [re.fullmatch(r"(.*?)(\d+)(\D*)", name) for name in names]
    numbered = [part.groups() for part in parts if part]
    if len(numbered) < NEARLY_ALL * len(names):
        return False
    series: dict[tuple[str, str], list[str]] = {}
    for before, number, after in numbered:
        series.setdefault((before, after), []).append(number)
    if len(series) > 0.05 * len(names):
        return False
    collisions = sum(
        expected_collisions(np.array([int(n[-18:]) for n in numbers], dtype=np.int64))
        for numbers in series.values()
    )
    widths = Counter(len(number) for _, number, _ in numbered)
    is_padded = max(widths.values()) == len(numbered) and min(widths) >= 4
    has_text = any(re.search(r"\w", before + after) for before, after in series)
    return collisions >= many or (is_padded and has_text)
