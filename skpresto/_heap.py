"""Tell the allocator of glibc what to do with freed memory, where it guesses wrongly.

With many classes, the outputs of a batch take megabytes. Freed blocks of that size are
kept, and often cannot be used for the next aligned request, so that a process grows to
several times of what it uses. Images take megabytes in every layer, in the same places
in every batch; there it returns memory and asks for it again, which takes a quarter of
the time of a fit.
"""

import ctypes
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache

#: Outputs of a batch (4 MB) from which on freed memory is returned after it.
LARGE_OUTPUTS = 1 << 20


#: Numbers of glibc for the free memory that is kept at the end of the heap, and for the
#: smallest block that is not part of the heap.
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
#: What these become by themselves after large blocks were freed.
_USUAL_TRIM, _USUAL_MMAP = 64 << 20, 32 << 20


@cache
def _trim() -> Callable[[int], int] | None:
    return _function("malloc_trim")


def _function(name: str) -> Callable[..., int] | None:
    try:
        return getattr(ctypes.CDLL(None), name)
    except (AttributeError, OSError, TypeError):  # another allocator, or Windows
        return None


@contextmanager
def kept_heap() -> Iterator[None]:
    """Let freed memory stay with the process until the end of the block."""
    options = _function("mallopt")
    if options is None:
        yield
        return
    options(_MMAP_THRESHOLD, _USUAL_MMAP)
    options(_TRIM_THRESHOLD, 1 << 30)
    try:
        yield
    finally:
        options(_TRIM_THRESHOLD, _USUAL_TRIM)
        return_freed_memory()


def return_freed_memory() -> None:
    """Return freed memory to the system, if the allocator can do so."""
    trim = _trim()
    if trim is not None:
        trim(0)
