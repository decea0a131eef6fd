"""Rows of large memory maps, read from the file instead of through the map.

What is read through a map stays in memory until the memory is needed elsewhere, often
with megabytes around it. A fit would seem to need as much memory as the file has, and
be ended where memory is limited. Reading from the file leaves nothing behind.
"""

import mmap
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: Smaller maps are read through the map.
_SMALL_MAP = 1 << 30
#: As are shorter rows, for which a call for each would take too long.
_SHORT_ROW = 1 << 12


class MappedFile:
    """Read rows of an array from the file that it is mapped to.

    If the file was deleted or replaced, they are read through the map.

    Parameters
    ----------
    X : ndarray
        View of a memory map, of which each row is contiguous.
    path : path
        Its file.
    offset : int
        Where the first row begins in the file.
    identity : tuple of int
        Device and inode of the file.
    """

    def __init__(
        self, X: NDArray, path: Any, offset: int, identity: tuple[int, int]
    ) -> None:
        self._X = X
        self._row_bytes = X[0].nbytes
        self._path = path
        self._offset = offset
        self._identity = identity

    def take(self, rows: NDArray[np.int64]) -> NDArray:
        """Return the rows at ``rows``."""
        values = self._read(len(rows), rows.tolist(), 1)
        return self._X[rows] if values is None else values

    def slice(self, start: int, stop: int) -> NDArray:
        """Return consecutive rows, in one piece if they are one in the file."""
        n_rows = stop - start
        if self._X.strides[0] == self._row_bytes:
            values = self._read(n_rows, [start], n_rows)
        else:
            values = self._read(n_rows, range(start, stop), 1)
        return self._X[start:stop] if values is None else values

    def _read(self, n_rows: int, starts: Sequence[int], at_once: int) -> NDArray | None:
        """Return rows, of which some that follow each other are read at once."""
        try:
            file = os.open(self._path, os.O_RDONLY)
        except OSError:
            return None
        try:
            if _identity(os.fstat(file)) != self._identity:
                return None
            values = np.empty((n_rows, *self._X.shape[1:]), dtype=self._X.dtype)
            content = values.reshape(-1).view(np.uint8).data
            n_bytes, stride = at_once * self._row_bytes, self._X.strides[0]
            for n, row in enumerate(starts):
                part = content[n * n_bytes : (n + 1) * n_bytes]
                self._fill(file, part, self._offset + row * stride)
        finally:
            os.close(file)
        return values

    def _fill(self, file: int, part: memoryview, position: int) -> None:
        while part:
            n_read = os.preadv(file, [part], position)
            if n_read == 0:
                raise OSError(
                    f"The file {str(self._path)!r} of a memory map has become shorter. "
                    "Leave it unchanged during fit and predict."
                )
            part, position = part[n_read:], position + n_read


def mapped_file(X: NDArray) -> MappedFile | None:
    """Return the file of an array, if its rows are better read from there.

    That is so for long rows of large maps, where it is certain which file is mapped.
    """
    root = _root_of(X)
    if root is None or X.ndim < 2 or not len(X) or X.nbytes <= _SMALL_MAP:
        return None
    path = root.filename
    # Changes of a map in mode "c" are in memory only.
    is_shared = root.mode != "c" and hasattr(os, "preadv")
    is_long = X[0].nbytes >= _SHORT_ROW and X[0].flags.c_contiguous
    if path is None or not is_shared or not is_long:
        return None
    identity = _identity_of_map(X.ctypes.data)
    try:
        if identity is None or _identity(os.stat(path)) != identity:
            return None
    except OSError:  # the file was deleted
        return None
    offset = root.offset + X.ctypes.data - root.ctypes.data
    return MappedFile(X, path, offset, identity)


def _root_of(X: Any) -> np.memmap | None:
    """Return the memory map that an array is a view of, as it was made."""
    while isinstance(X, np.ndarray) and not isinstance(X.base, mmap.mmap):
        X = X.base
    return X if isinstance(X, np.memmap) else None


def _identity(status: os.stat_result) -> tuple[int, int]:
    return status.st_dev, status.st_ino


def _identity_of_map(address: int) -> tuple[int, int] | None:
    """Return device and inode of the file that is mapped at an address."""
    try:
        lines = Path("/proc/self/maps").read_text().splitlines()
    except OSError:  # not Linux
        return None
    for line in lines:
        place, _, _, device, inode = line.split()[:5]
        start, stop = (int(end, 16) for end in place.split("-"))
        if start <= address < stop:
            major, minor = (int(part, 16) for part in device.split(":"))
            return os.makedev(major, minor), int(inode)
    return None
