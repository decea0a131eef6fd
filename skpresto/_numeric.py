"""Samples that are not numbers: errors that say so, in the name of the estimator."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

#: How messages of numpy begin that name neither the estimator nor the argument.
_OF_NUMPY = (
    "could not convert",
    "float() argument",
    "setting an array element",
    "Expected unique column names",
)


@contextmanager
def numbers_expected(owner: str, X: Any, name: str = "X") -> Iterator[None]:
    """Raise for what is no number in ``X`` while it is converted to numbers."""
    # First for what numpy converts to numbers without a word. Of a Series, dtypes is
    # one type.
    kinds = getattr(X, "dtypes", None) if getattr(X, "ndim", 2) == 2 else None
    dtypes = [getattr(X, "dtype", None)] if kinds is None else list(kinds)
    if any(map(_is_time, dtypes)):
        raise ValueError(
            f"{owner} needs numbers in {name}, but got dates or durations. Convert "
            "them first, for example to days since a certain date."
        )
    if isinstance(X, np.ma.MaskedArray) and np.ma.is_masked(X):
        raise ValueError(
            f"{owner} cannot use masked values in {name}: it would read them as if "
            f"they were not masked. Fill them, or impute {name}.filled(np.nan)."
        )
    try:
        yield
    except (ValueError, TypeError) as error:
        if not str(error).startswith(_OF_NUMPY):
            raise
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(
            f"{owner} needs numbers in {name}, one column for each name: {error}. "
            "Encode text and other values first, for example with OrdinalEncoder."
        ) from error


def _is_time(dtype: Any) -> bool:
    """Return whether a dtype of numpy, pandas or polars is of dates or durations."""
    is_temporal = getattr(dtype, "is_temporal", bool)
    return getattr(dtype, "kind", None) in ("m", "M") or is_temporal()
