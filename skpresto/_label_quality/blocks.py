"""All samples in blocks, so that intermediate results stay small."""

from collections.abc import Iterator

# Limits of a block, of many samples of few classes or few samples of many classes.
_SAMPLES_AT_ONCE = 1 << 14
_VALUES_AT_ONCE = 1 << 22


def blocks(n_rows: int, n_columns: int) -> Iterator[slice]:
    """Yield slices that together are all rows of a matrix.

    Examples
    --------
    >>> [part.stop - part.start for part in blocks(1000, n_columns=10_000)]
    [419, 419, 162]
    """
    at_once = max(1, min(_SAMPLES_AT_ONCE, _VALUES_AT_ONCE // n_columns))
    for start in range(0, n_rows, at_once):
        yield slice(start, min(start + at_once, n_rows))
