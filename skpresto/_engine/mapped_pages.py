"""Pages of large memory maps, given back after they were read."""

import mmap
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: Maps up to this many bytes stay as they are: reading a page again costs time.
_SMALL_MAP = 1 << 30
#: Bytes that may be resident before they are given back.
_RESIDENT = 1 << 28
#: The kernel makes neighbours of a page resident too, on Linux up to 64 kB.
_AROUND = 1 << 16


class MappedPages:
    """Count what was read of an array, and give its pages back now and then.

    Pages that are read from a memory map count as memory of the process until the
    memory is needed elsewhere, so that a fit would seem to need as much as the file
    has, and be ended where memory is limited. Pages that are given back stay in the
    cache of the file system. Arrays in memory and small maps are not affected.

    Parameters
    ----------
    X : ndarray
        An array, or a memory map.
    """

    def __init__(self, X: NDArray) -> None:
        self._X = X
        self._is_large = X.nbytes > _SMALL_MAP and _map_of(X) is not None
        self._row_bytes = X.nbytes // max(1, len(X))
        self._n_resident = 0

    def count(self, n_rows: int) -> None:
        """Note that rows were read, and give pages back if they are many."""
        if not self._is_large:
            return
        self._n_resident += n_rows * (self._row_bytes + _AROUND)
        if self._n_resident > _RESIDENT:
            self._n_resident = 0
            mapped = _map_of(self._X)
            if mapped is not None:
                mapped.madvise(mmap.MADV_DONTNEED)


def _map_of(X: Any) -> mmap.mmap | None:
    """Return the map that an array is a view of, if its pages can be given back."""
    is_shared = False
    while X is not None and not isinstance(X, mmap.mmap):
        if isinstance(X, np.memmap):
            # Changes of a map in mode "c" exist in memory only, and would be lost.
            is_shared = X.mode != "c"
        X = getattr(X, "base", None)
    can_advise = hasattr(mmap, "MADV_DONTNEED")  # not on Windows
    return X if is_shared and can_advise else None
