"""Return freed memory to the system, where the allocator would keep it.

With many classes, the outputs of a batch take megabytes. The allocator of glibc keeps
freed blocks of that size, and often cannot use them for the next aligned request, so
that a process grows to several times of what it uses.
"""

import ctypes
from collections.abc import Callable
from functools import cache

#: Outputs of a batch (4 MB) from which on freed memory is returned after it.
LARGE_OUTPUTS = 1 << 20


@cache
def _trim() -> Callable[[int], int] | None:
    try:
        return ctypes.CDLL(None).malloc_trim
    except (AttributeError, OSError, TypeError):  # another allocator, or Windows
        return None


def return_freed_memory() -> None:
    """Return freed memory to the system, if the allocator can do so."""
    trim = _trim()
    if trim is not None:
        trim(0)
