"""Unpickle arrays of numbers and built-in containers, and nothing else.

A pickle is a program: it calls whatever it names, with arguments of its choice. Here
it calls nothing of numpy. The names that pickles of arrays need are those of objects
in ``_pickled_arrays``, and its instructions are checked before the first is executed.
"""

import io
import pickle
import pickletools
from typing import Any

from skpresto.datasets._pickled_arrays import (
    NAMES_BY_MODULE,
    STAND_INS,
    Latin1Encoder,
    PickledArray,
    RefusedError,
    StandIn,
)

#: Instructions of pickles of arrays, numbers, text, lists, tuples and dicts.
_INSTRUCTIONS = frozenset(
    """
    APPEND APPENDS BINBYTES BINBYTES8 BINFLOAT BINGET BININT BININT1 BININT2 BINPUT
    BINSTRING BINUNICODE BINUNICODE8 BUILD BYTEARRAY8 DICT EMPTY_DICT EMPTY_LIST
    EMPTY_TUPLE FLOAT FRAME GET GLOBAL INT LIST LONG LONG1 LONG4 LONG_BINGET
    LONG_BINPUT MARK MEMOIZE NEWFALSE NEWTRUE NONE PROTO PUT REDUCE SETITEM SETITEMS
    SHORT_BINBYTES SHORT_BINSTRING SHORT_BINUNICODE STACK_GLOBAL STOP STRING TUPLE
    TUPLE1 TUPLE2 TUPLE3 UNICODE
    """.split()  # noqa: SIM905
)
_TUPLES = frozenset({"TUPLE", "TUPLE1", "TUPLE2", "TUPLE3"})
_PUTS = frozenset({"PUT", "BINPUT", "LONG_BINPUT"})

#: More tuples than the few of an array's shape, dtype and state are not needed. The
#: hash of a tuple nested a hundred thousand times would overflow the C stack.
_MAX_TUPLES = 1000

#: How deep lists, tuples and dicts may be nested.
_MAX_DEPTH = 20


def load_pickle(content: bytes, start: int = 0) -> tuple[Any, int]:
    """Return the object of a pickle, and the position of the byte after it.

    Parameters
    ----------
    content : bytes
        The whole file, so that no length it promises can exceed what is there.
    start : int, default=0
        Position of the pickle.
    """
    end = _checked_end(content, start)
    loaded = _ArrayUnpickler(content[start:end]).load()
    return _Arrays(end - start).replaced(loaded, depth=0), end


def _checked_end(content: bytes, start: int) -> int:
    """Return where the pickle ends, and raise if an instruction is not allowed."""
    stream = io.BytesIO(content)
    stream.seek(start)
    n_tuples = 0
    for instruction, argument, _ in pickletools.genops(stream):
        n_tuples += instruction.name in _TUPLES
        if instruction.name not in _INSTRUCTIONS:
            raise RefusedError(f"the instruction {instruction.name}")
        if n_tuples > _MAX_TUPLES:
            raise RefusedError(f"more than {_MAX_TUPLES} tuples")
        # Python reserves memory for all positions up to this one.
        if instruction.name in _PUTS and int(str(argument)) > len(content):
            raise RefusedError(f"the object number {argument}")
    return stream.tell()


class _ArrayUnpickler(pickle.Unpickler):
    """Unpickle into objects of this module and built-in ones."""

    def __init__(self, content: bytes) -> None:
        super().__init__(io.BytesIO(content), encoding="bytes")
        self._encode = Latin1Encoder(len(content))

    def find_class(self, module: str, name: str) -> Any:
        if name not in NAMES_BY_MODULE.get(module, ()):
            raise RefusedError(f"a call of {module}.{name}")
        return self._encode if name == "encode" else STAND_INS[name]


class _Arrays:
    """Put arrays in the place of what was read for them.

    Parameters
    ----------
    max_size : int
        Raise if objects and bytes of arrays are more than this together, where those in
        two places count twice: ten times the same list of ten times the same list ...
        is short in a pickle. A pickle without repetition has at least this many bytes.
    """

    def __init__(self, max_size: int) -> None:
        self._n_left = max_size

    def replaced(self, value: Any, depth: int) -> Any:
        """Return ``value`` with arrays in it, in new containers."""
        self._count(1)
        if depth > _MAX_DEPTH:
            raise RefusedError(f"lists or dicts nested more than {_MAX_DEPTH} times")
        if isinstance(value, dict):
            return {_key(k): self.replaced(v, depth + 1) for k, v in value.items()}
        if isinstance(value, (list, tuple)):
            return type(value)(self.replaced(item, depth + 1) for item in value)
        return self._leaf(value, depth)

    def _leaf(self, value: Any, depth: int) -> Any:
        if isinstance(value, PickledArray):
            box = value.boxed()
            if box is not None:
                return self.replaced(box[0], depth + 1)
            array = value.build()
            self._count(array.nbytes)
            return array
        if isinstance(value, StandIn):
            raise RefusedError(f"{type(value).__name__.strip('_')} as a value")
        return value

    def _count(self, n: int) -> None:
        self._n_left -= n
        if self._n_left < 0:
            raise RefusedError("the same objects in many places")


def _key(key: Any) -> str | bytes | int:
    if not isinstance(key, (str, bytes, int)):
        raise RefusedError(f"a {type(key).__name__} as key of a dict")
    return key
