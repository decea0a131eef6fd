"""Row groups of Parquet files as arrays of numbers. Does not import torch."""

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from os.path import isdir, isfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skpresto.datasets._parquet_columns import (
    NAME,
    column_labels,
    column_values,
    pyarrow,
    width_of,
)
from skpresto.datasets._source import as_path


@dataclass(frozen=True)
class RowGroup:
    """A part of a Parquet file that is read at once."""

    file: Path
    number: int
    n_rows: int

    def features(self, widths: dict[str, int]) -> NDArray[np.float32]:
        """Return columns side by side, given the number of values of each in a row."""
        table = self._table(list(widths))
        values = np.empty((self.n_rows, sum(widths.values())), dtype=np.float32)
        start = 0
        for name, width in widths.items():
            part = column_values(name, table.column(name), width, self._where)
            values[:, start : start + width] = part
            start += width
        return values

    def labels(self, name: str) -> NDArray:
        """Return a column of labels."""
        return column_labels(name, self._table([name]).column(0), self._where)

    @property
    def _where(self) -> str:
        return f"row group {self.number} of {str(self.file)!r}"

    def _table(self, names: list[str]) -> Any:
        with _opened(self.file) as file:
            if _sizes(file)[self.number : self.number + 1] != [self.n_rows]:
                raise ValueError(
                    f"{NAME} read {str(self.file)!r} before, but the file has changed "
                    "since. Make a new dataset, and do not write to its files."
                )
            try:
                # Without threads, which do not exist in forked worker processes.
                return file.read_row_group(self.number, names, use_threads=False)
            except (OSError, pyarrow().ArrowException) as error:
                raise _damaged(self.file, error) from error


def row_groups(
    files: Any, label: str | None, columns: Sequence[str] | None
) -> tuple[list[RowGroup], dict[str, int]]:
    """Return the row groups of files with the same columns, and the columns' widths.

    Parameters
    ----------
    files : path or list of paths
        Files, or a folder with files ``*.parquet``.
    label : str or None
        Column of labels.
    columns : list of str or None
        Columns of features; None means all but the label.

    Returns
    -------
    groups : list of RowGroup
        Those that are not empty.
    widths : dict
        Number of values in a row of each column of features.
    """
    paths = _paths(files)
    groups: list[RowGroup] = []
    widths: dict[str, int] = {}
    expected: dict[str, Any] = {}
    for path in paths:
        with _opened(path) as file:
            schema = file.schema_arrow
            columns = _chosen(path, schema.names, label, columns)
            if not file.metadata.num_rows:
                continue
            names = [*columns, *([] if label is None else [label])]
            types = {name: schema.field(name).type for name in names}
            if not groups:
                expected = types
                widths = {name: width_of(name, types[name], file) for name in columns}
            _check_same_types(path, types, paths[0], expected)
            sizes = enumerate(_sizes(file))
            groups += [RowGroup(path, number, n) for number, n in sizes if n]
    if not groups:
        raise ValueError(
            f"{NAME} needs at least one row, but {_listed(paths)} has none."
        )
    return groups, widths


def _sizes(file: Any) -> list[int]:
    """Return the number of rows of each row group."""
    metadata = file.metadata
    return [metadata.row_group(i).num_rows for i in range(metadata.num_row_groups)]


def _chosen(
    path: Path, present: list[str], label: str | None, columns: Sequence[str] | None
) -> list[str]:
    """Return the columns of features, and raise if the file lacks one."""
    if columns is None:
        columns = [name for name in present if name != label]
    wanted = [*columns, *([] if label is None else [label])]
    missing = [name for name in wanted if name not in present]
    if missing:
        raise ValueError(
            f"{NAME} needs {_quoted(missing)}, but {str(path)!r} has only the "
            f"columns {_quoted(present)}."
        )
    twice = [name for name, n in Counter(present).items() if n > 1]
    if twice:
        raise ValueError(
            f"{NAME} needs columns with different names, but {str(path)!r} has "
            f"several of {_quoted(twice)}."
        )
    if not columns or len(set(wanted)) < len(wanted):
        raise ValueError(
            f"{NAME} needs at least one column of features, each once and none of "
            f"them the label, but got columns={columns} and label={label!r}."
        )
    return list(columns)


def _paths(files: Any) -> list[Path]:
    """Return the paths of files, of one file, or of the files in a folder."""
    is_one = isinstance(files, (str, os.PathLike))
    given = [files] if is_one else files
    if not isinstance(given, (list, tuple)):
        raise TypeError(
            f"{NAME} needs files to be a path or a list of paths, got {files!r}."
        )
    paths: list[Path] = []
    for value in given:
        path = as_path(NAME, "files", value)
        paths += sorted(path.glob("*.parquet")) if isdir(path) else [path]
    missing = [path for path in paths if not isfile(path)]
    if missing or not paths:
        what = _listed(missing) if missing else f"no file *.parquet in {given}"
        raise FileNotFoundError(
            f"{NAME} needs Parquet files, but found "
            f"{'no ' if missing else ''}{what}. Check the path."
        )
    return paths


def _opened(path: Path) -> Any:
    """Open a file. No handle outlives a read, so that processes can be forked."""
    try:
        return pyarrow("pyarrow.parquet").ParquetFile(path, pre_buffer=False)
    except (OSError, pyarrow().ArrowException) as error:
        raise _damaged(path, error) from error


def _damaged(path: Path, error: Exception) -> Exception:
    if isinstance(error, (FileNotFoundError, PermissionError)):
        return type(error)(
            f"{NAME} cannot read {str(path)!r}: {error.strerror or error}. Check that "
            "the file is there, and its permissions."
        )
    return ValueError(
        f"{NAME} cannot read {str(path)!r} as a Parquet file: {error} Write it again."
    )


def _check_same_types(path: Path, types: dict, first: Path, expected: dict) -> None:
    differing = [name for name in expected if types[name] != expected[name]]
    if differing:
        raise ValueError(
            f"{NAME} needs files with the same columns, but {_quoted(differing)} of "
            f"{str(path)!r} differ from those of {str(first)!r}. Write them alike, or "
            "choose columns=[...] that are."
        )


def _quoted(names: Sequence[str], n: int = 10) -> str:
    more = f" and {len(names) - n} more" if len(names) > n else ""
    return ", ".join(map(repr, names[:n])) + more


def _listed(paths: Sequence[Path]) -> str:
    return _quoted([str(path) for path in paths], 3)
