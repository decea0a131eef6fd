"""What a pickle of arrays gets instead of the functions of numpy that it names.

``numpy.ndarray``, called with a buffer, makes any number the address of an object. So
nothing of numpy is called with arguments from a file. Objects of this module check
what they are given, and build arrays from raw bytes.
"""

import math
import pickle
import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: Types of array elements, in numpy's notation: booleans, integers and floats.
_NUMBER = re.compile(r"b1|[iu][1248]|f[248]")


class RefusedError(pickle.UnpicklingError):
    """A pickle has content other than arrays of numbers and built-in containers."""


class StandIn:
    """Base class of objects that a pickle gets: it cannot change their attributes."""

    __slots__ = ()

    def __setstate__(self, state: Any) -> None:
        raise RefusedError(f"a change of {type(self).__name__.strip('_')}")


class _ArrayType(StandIn):
    """In place of ``numpy.ndarray``, which a pickle names but need not call."""

    __slots__ = ()

    def __call__(self, *args: Any) -> Any:
        raise RefusedError("a call of numpy.ndarray")


class Latin1Encoder(StandIn):
    """In place of ``_codecs.encode``: bytes that protocol 2 has stored as text."""

    __slots__ = ("n_left",)

    def __init__(self, max_bytes: int) -> None:
        self.n_left = max_bytes

    def __call__(self, text: str, encoding: str = "latin1") -> bytes:
        self.n_left -= len(text)
        if encoding != "latin1" or self.n_left < 0:
            how = "more than once" if self.n_left < 0 else f"as {encoding!r}"
            raise RefusedError(f"text encoded {how}")
        return text.encode("latin1")


class _DtypeOf(StandIn):
    """In place of ``numpy.dtype``."""

    __slots__ = ()

    def __call__(self, name: str | bytes, *options: Any) -> "_Dtype":
        return _Dtype(_text(name))


class _Dtype(StandIn):
    """A type of array elements, whose byte order follows as its state."""

    __slots__ = ("name", "order")

    def __init__(self, name: str) -> None:
        self.name = name
        self.order = "|"

    def __setstate__(self, state: Any) -> None:
        _, order, *fields = state
        if any(field is not None for field in fields[:3]):
            raise RefusedError("an array with named fields")
        self.order = _text(order)

    @property
    def is_object(self) -> bool:
        return self.name.startswith("O")

    def dtype(self) -> np.dtype:
        if not _NUMBER.fullmatch(self.name) or self.order not in "<>=|":
            raise RefusedError(f"an array of dtype {self.name!r}")
        return np.dtype(self.order + self.name)


class _NewArray(StandIn):
    """In place of ``_reconstruct``: an empty array, whose content is its state."""

    __slots__ = ()

    def __call__(self, kind: Any, *shape_and_type: Any) -> "PickledArray":
        if not isinstance(kind, _ArrayType):
            raise RefusedError("an array of another class than numpy.ndarray")
        return PickledArray()


class _FromBuffer(StandIn):
    """In place of ``_frombuffer``: an array of protocol 5."""

    __slots__ = ()

    def __call__(self, data: Any, dtype: Any, shape: Any, order: str) -> "PickledArray":
        array = PickledArray()
        array.__setstate__((1, shape, dtype, order == "F", data))
        return array


class _Scalar(StandIn):
    """In place of ``scalar``: a single number."""

    __slots__ = ()

    def __call__(self, dtype: Any, data: bytes) -> Any:
        return _build((), dtype, False, data)[()]


class PickledArray(StandIn):
    """An array to be built when the pickle has been read."""

    __slots__ = ("state",)

    def __init__(self) -> None:
        self.state: Any = None

    def __setstate__(self, state: Any) -> None:
        self.state = state

    def build(self) -> NDArray:
        if not isinstance(self.state, tuple) or len(self.state) != 5:
            raise RefusedError("an array without content")
        return _build(*self.state[1:])

    def boxed(self) -> list | None:
        """Return the list with the object, if this is an array of one object."""
        match self.state:
            case (_, () | (1,), _Dtype(is_object=True), _, [_] as box):
                return box
        return None


def _build(shape: Any, dtype: Any, is_fortran: Any, data: Any) -> NDArray:
    if isinstance(dtype, _Dtype) and dtype.is_object:
        raise RefusedError("an array of objects")
    if not isinstance(dtype, _Dtype) or not isinstance(data, (bytes, bytearray)):
        raise RefusedError("an array without bytes")
    if not all(isinstance(length, int) and length >= 0 for length in shape):
        raise RefusedError(f"an array of shape {shape!r}")
    kind = dtype.dtype()
    if math.prod(shape) * kind.itemsize != len(data):
        raise RefusedError(f"an array of shape {shape!r} in {len(data)} bytes")
    array = np.frombuffer(data, kind).reshape(shape, order="F" if is_fortran else "C")
    return array.copy(order="K")


def _text(name: str | bytes) -> str:
    """Return a name as str; pickles of Python 2 contain bytes."""
    return name.decode("ascii") if isinstance(name, bytes) else name


#: What stands for the functions and classes that pickles of arrays name.
STAND_INS = {
    "_reconstruct": _NewArray(),
    "_frombuffer": _FromBuffer(),
    "scalar": _Scalar(),
    "ndarray": _ArrayType(),
    "dtype": _DtypeOf(),
}
NAMES_BY_MODULE = {
    "numpy": {"ndarray", "dtype"},
    "numpy.core.multiarray": {"_reconstruct", "scalar"},
    "numpy._core.multiarray": {"_reconstruct", "scalar"},
    "numpy.core.numeric": {"_frombuffer"},
    "numpy._core.numeric": {"_frombuffer"},
    "_codecs": {"encode"},
}
