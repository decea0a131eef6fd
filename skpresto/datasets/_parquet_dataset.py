"""Parquet files as a torch ``Dataset``. The only data set that imports torch."""

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch.utils.data import Dataset

from skpresto.datasets._parquet_columns import NAME, pyarrow
from skpresto.datasets._parquet_files import row_groups


class ParquetDataset(Dataset):
    """Rows of Parquet files that are larger than memory, as a map-style ``Dataset``.

    Row groups are read when they are needed, and the latest ones are kept as float32.
    Classifiers of this package read each row group once per epoch: they shuffle the row
    groups, and the rows of as many of them as are kept. If all are kept, results are
    those of an array with the same rows, bit for bit.

    Parameters
    ----------
    files : path or list of paths
        Parquet files with the same columns, or a folder, of which all files
        ``*.parquet`` are read in the order of their names.
    label : str, default=None
        Column of labels: text, integers or booleans. Without it, items have no label.
    columns : list of str, default=None
        Columns of features, of numbers or of lists of numbers of one length (such as
        pixels or embeddings). None means all columns but the label.
    shape : tuple of int, default=None
        Shape of a sample, such as (3, 32, 32). None means a row of numbers.
    cache_bytes : int, default=2**28
        Memory for row groups, in each process that reads. At least one row group is
        kept, however large it is.

    Attributes
    ----------
    columns : list of str
        Columns of features.
    n_features : int
        Number of values in a row.
    targets : ndarray of shape (n_rows,)
        Labels of all rows, read when first used; None without ``label``.

    Notes
    -----
    Row groups are the unit of reading and of shuffling, so files should have many. With
    pyarrow, ``write_table(table, path, row_group_size=10_000)`` makes them; its default
    is a million rows. ``cache_bytes`` should be enough for ten row groups or more,
    since rows far from each other are otherwise rarely in the same batch.

    With ``iterator_train__num_workers``, each worker process has a cache of its own.

    Missing values, NaN, infinity and text are errors that name the column.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import pyarrow as pa
    >>> import pyarrow.parquet as pq
    >>> from sklearn.datasets import load_iris
    >>> from skpresto import DefaultClassifier
    >>> from skpresto.datasets import ParquetDataset
    >>> table = pa.Table.from_pandas(load_iris(as_frame=True).frame)
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = Path(folder.name) / "iris.parquet"
    >>> pq.write_table(table, path, row_group_size=20)
    >>> data = ParquetDataset(path, label="target")
    >>> data
    ParquetDataset(150 rows in 8 row groups, 4 features, label='target')
    >>> clf = DefaultClassifier(max_epochs=30, random_state=0).fit(data)
    >>> clf.score(data, data.targets) > 0.9
    True
    >>> folder.cleanup()
    """

    def __init__(
        self,
        files: Any,
        *,
        label: str | None = None,
        columns: Sequence[str] | None = None,
        shape: tuple[int, ...] | None = None,
        cache_bytes: int = 2**28,
    ) -> None:
        pyarrow()
        if isinstance(columns, str) or not isinstance(cache_bytes, int):
            raise TypeError(
                f"{NAME} needs columns to be a list of names and cache_bytes to be an "
                f"int, got columns={columns!r} and cache_bytes={cache_bytes!r}."
            )
        self._groups, self._widths = row_groups(files, label, columns)
        self.label = label
        self.columns = list(self._widths)
        self.n_features = sum(self._widths.values())
        self.sample_shape = (self.n_features,) if shape is None else tuple(shape)
        if math.prod(self.sample_shape) != self.n_features:
            raise ValueError(
                f"{NAME} needs shape to have as many values as a row, which has "
                f"{self.n_features}, got shape={shape}."
            )
        self.cache_bytes = cache_bytes
        sizes = [group.n_rows for group in self._groups]
        self._ends = np.cumsum(sizes)
        largest = max(sizes) * max(1, self.n_features) * 4
        self._n_kept = max(1, cache_bytes // largest)
        self._targets: NDArray | None = None
        self._forget()

    def __len__(self) -> int:
        return int(self._ends[-1])

    def __repr__(self) -> str:
        label = "" if self.label is None else f", label={self.label!r}"
        return (
            f"{NAME}({len(self):,} rows in {len(self._ends):,} row groups, "
            f"{self.n_features:,} features{label})"
        )

    @property
    def targets(self) -> NDArray | None:
        """Labels of all rows."""
        if self._targets is None and self.label is not None:
            parts = [group.labels(self.label) for group in self._groups]
            self._targets = np.concatenate(parts)
        return self._targets

    def __getitem__(self, row: int) -> Any:
        return self.__getitems__([row])[0]

    def __getitems__(self, rows: Sequence[int]) -> list[Any]:
        """Return several items, each row group of them looked up once."""
        at = np.asarray(rows, dtype=np.int64)
        at = np.where(at < 0, at + len(self), at)
        if at.size and not 0 <= at.min() <= at.max() < len(self):
            raise IndexError(f"{self!r} has no row {min(rows)} or {max(rows)}.")
        values = np.empty((len(at), self.n_features), dtype=np.float32)
        numbers = self._group_of(at)
        # In the order of the rows, so that none is dropped that this batch still needs.
        for number in dict.fromkeys(numbers.tolist()):
            here = np.flatnonzero(numbers == number)
            first = self._ends[number - 1] if number else 0
            values[here] = self._features_of(number)[at[here] - first]
        features = torch.from_numpy(values.reshape(-1, *self.sample_shape)).unbind()
        if self.targets is None:
            return list(features)
        return list(zip(features, self.targets[at], strict=True))

    def storage_blocks(self) -> tuple[NDArray, int]:
        """Return the row group of each row, and how many row groups are kept.

        Classifiers shuffle accordingly.
        """
        return self._group_of(np.arange(len(self))), self._n_kept

    def _group_of(self, rows: NDArray) -> NDArray:
        return np.searchsorted(self._ends, rows, side="right")

    def _forget(self) -> None:
        # Without a reference to this object, which would keep it and the rows alive.
        groups, widths = self._groups, self._widths
        self._features_of = lru_cache(self._n_kept)(
            lambda number: groups[number].features(widths)
        )

    def __getstate__(self) -> dict[str, Any]:
        # Other processes read for themselves.
        return {**vars(self), "_features_of": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._forget()
