"""Unpickle arrays of numbers and built-in containers, and nothing else.

A pickle is a program: it calls whatever it names, with arguments of its choice, and
``numpy.ndarray``, called with a buffer, makes any number the address of an object. So
the six names that pickles of arrays need are those of functions of this module. They
check what they are given, and build arrays from raw bytes.
"""

import pickle
import pickletools
import re
from collections.abc import Callable
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

#: Types of array elements, in numpy's notation: booleans, integers and floats.
_NUMBER = re.compile(r"[<>=|](b1|[iu][1248]|f[248])")

#: More tuples than the few of an array's shape, dtype and state are not needed. The
#: hash of a tuple nested a hundred thousand times would overflow the C stack.
_MAX_TUPLES = 1000


class RefusedError(pickle.UnpicklingError):
    """A pickle has content other than arrays of numbers and built-in containers."""


def load_pickle(stream: IO[bytes]) -> Any:
    """Return the next object in a stream."""
    start = stream.tell()
    instructions = (code.name for code, _, _ in pickletools.genops(stream))
    if sum(name.startswith("TUPLE") for name in instructions) > _MAX_TUPLES:
        raise RefusedError(f"more than {_MAX_TUPLES} tuples")
    stream.seek(start)
    content = _ArrayUnpickler(stream, encoding="bytes").load()
    # The one object that numpy.save has put into an array.
    is_boxed = isinstance(content, np.ndarray) and content.dtype.hasobject
    return content.item() if is_boxed else content


class _ArrayUnpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        full_name = f"{module}.{name}".replace("numpy._core.", "numpy.core.")
        if full_name not in _FUNCTIONS:
            raise RefusedError(f"a call of {module}.{name}")
        return _FUNCTIONS[full_name]


class _Function:
    """What a pickle may call, but not change: it can set attributes of functions."""

    __slots__ = ("_call",)

    def __init__(self, call: Callable) -> None:
        self._call = call

    def __call__(self, *args: Any) -> Any:
        return self._call(*args)

    def __setstate__(self, state: Any) -> None:
        raise RefusedError("a change of a function")


class _Dtype:
    """A type of array elements, whose byte order follows as its state."""

    def __init__(self, name: str | bytes, *options: Any) -> None:
        self.name, self.order = _text(name), "|"

    def __setstate__(self, state: Any) -> None:
        self.order = _text(state[1])

    def dtype(self) -> np.dtype:
        if not _NUMBER.fullmatch(self.order + self.name):
            raise RefusedError(f"an array of dtype {self.name!r}")
        return np.dtype(self.order + self.name)


class _Array(np.ndarray):
    """An array that gets its content as its state."""

    def __setstate__(self, state: Any) -> None:
        content: Any
        match state:
            case (_, () | (1,), _Dtype(name="O8" | "O4"), _, [dict(item)]):
                content = ((), np.dtype(object), False, [item])
            case (_, shape, dtype, is_fortran, bytes(data)):
                array = _numbers(data, dtype, shape)
                content = (array.shape, array.dtype, bool(is_fortran), data)
            case _:
                raise RefusedError("an array of objects")
        super().__setstate__((1, *content))


def _numbers(data: Any, dtype: Any, shape: Any, order: Any = "C") -> NDArray:
    """Return an array that has exactly the bytes of ``data``."""
    if not isinstance(dtype, _Dtype) or not isinstance(data, (bytes, bytearray)):
        raise RefusedError("an array without bytes")
    return np.frombuffer(data, dtype.dtype()).reshape(shape, order=order)


def _encoded(text: str, encoding: str) -> bytes:
    """Return bytes that protocol 2 has stored as text."""
    if encoding != "latin1":
        raise RefusedError(f"text encoded as {encoding!r}")
    return text.encode("latin1")


def _text(name: str | bytes) -> str:
    """Return a name as str; pickles of Python 2 contain bytes."""
    return name.decode("ascii") if isinstance(name, bytes) else name


def _not_called(*args: Any) -> Any:
    raise RefusedError("a call of numpy.ndarray")


_FUNCTIONS = {
    "numpy.ndarray": _Function(_not_called),
    "numpy.dtype": _Function(_Dtype),
    "numpy.core.multiarray._reconstruct": _Function(lambda *_: _Array(0, np.uint8)),
    "numpy.core.multiarray.scalar": _Function(
        lambda dtype, data: _numbers(data, dtype, ())[()]
    ),
    "numpy.core.numeric._frombuffer": _Function(
        lambda *args: _numbers(*args).view(_Array)
    ),
    "_codecs.encode": _Function(_encoded),
}
