"""Row groups of Parquet files as arrays of numbers. Does not import torch."""

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
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


@dataclass
class ParquetFiles:
    """Files with the same columns, whose rows follow each other.

    Parameters
    ----------
    files : path or list of paths
        Files, or a folder with files ``*.parquet``.
    label : str or None
        Column of labels.
    columns : list of str or None
        Columns of features; None means all but the label.
    """

    files: Any
    label: str | None
    columns: Sequence[str] | None
    groups: list[RowGroup] = field(default_factory=list)
    widths: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.files = _paths(self.files)
        first: Any = None
        for path in self.files:
            with _opened(path) as file:
                schema = file.schema_arrow
                self.columns = self._chosen(path, schema.names)
                if not file.metadata.num_rows:
                    continue
                names = [*self.columns, *([] if self.label is None else [self.label])]
                types = {name: schema.field(name).type for name in names}
                if first is None:
                    first = types
                    self.widths = {
                        name: width_of(name, types[name], file) for name in self.columns
                    }
                _check_same_types(path, types, self.files[0], first)
                counts = [
                    file.metadata.row_group(number).num_rows
                    for number in range(file.metadata.num_row_groups)
                ]
            self.groups += [
                RowGroup(path, number, n) for number, n in enumerate(counts) if n
            ]
        if not self.groups:
            raise ValueError(
                f"{NAME} needs at least one row, but {_listed(self.files)} has none."
            )

    @property
    def n_features(self) -> int:
        """Number of values in a row."""
        return sum(self.widths.values())

    def read(self, group: RowGroup) -> NDArray[np.float32]:
        """Return the features of a row group."""
        table = self._table(group, list(self.widths))
        values = np.empty((group.n_rows, self.n_features), dtype=np.float32)
        start = 0
        for name, width in self.widths.items():
            where = f"row group {group.number} of {str(group.file)!r}"
            part = column_values(name, table.column(name), width, where)
            values[:, start : start + width] = part
            start += width
        return values

    def read_labels(self) -> NDArray:
        """Return the labels of all rows."""
        return np.concatenate(
            [
                column_labels(
                    str(self.label),
                    self._table(group, [str(self.label)]).column(0),
                    f"row group {group.number} of {str(group.file)!r}",
                )
                for group in self.groups
            ]
        )

    def _table(self, group: RowGroup, names: list[str]) -> Any:
        with _opened(group.file) as file:
            known = range(file.metadata.num_row_groups)
            sizes = [file.metadata.row_group(number).num_rows for number in known]
            if group.number not in known or sizes[group.number] != group.n_rows:
                raise ValueError(
                    f"{NAME} read {str(group.file)!r} before, but the file has changed "
                    "since. Make a new dataset, and do not write to its files."
                )
            try:
                # Without threads, which do not exist in forked worker processes.
                return file.read_row_group(group.number, names, use_threads=False)
            except (OSError, pyarrow().ArrowException) as error:
                raise _damaged(group.file, error) from error

    def _chosen(self, path: Path, present: list[str]) -> list[str]:
        """Return the columns of features, and raise if the file lacks one."""
        wanted = self.columns
        if wanted is None:
            wanted = [name for name in present if name != self.label]
        wanted = list(wanted)
        labels = [] if self.label is None else [self.label]
        missing = [name for name in wanted + labels if name not in present]
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
        if not wanted or len(set(wanted + labels)) < len(wanted + labels):
            raise ValueError(
                f"{NAME} needs at least one column of features, each once and none of "
                f"them the label, but got columns={wanted} and label={self.label!r}."
            )
        return wanted


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
    from pyarrow import parquet

    try:
        return parquet.ParquetFile(path, pre_buffer=False)
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
