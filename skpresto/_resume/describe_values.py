"""Numbers, texts, containers, arrays and random generators, by value."""

import random
from collections.abc import Iterator
from pathlib import PurePath
from types import MappingProxyType
from typing import Any

import numpy as np
import torch

from skpresto._networks.callbacks import Callback
from skpresto._resume.description import (
    Description,
    describe,
    describe_class,
    describe_object,
    describe_state,
    digest,
    name_of,
)

#: Parts of a longer container have no place of their own.
_MANY = 32
#: Bytes of an array that are read at once.
_BLOCK = 1 << 24
#: Types of keys that name a place.
_KEYS = (str, int, bool, float)
#: Where skorch defines callbacks that show what happens, and change nothing.
_ONLY_REPORT = "skorch.callbacks.logging"

_ATOMS: tuple[type, ...] = (
    bool,
    int,
    float,
    complex,
    str,
    bytes,
    bytearray,
    range,
    type(None),
    type(...),
    type(NotImplemented),
    torch.dtype,
    torch.layout,
    torch.memory_format,
)


def describe_atom(value: Any, place: str, into: Description) -> None:
    """Describe what ``repr`` tells all of."""
    if isinstance(value, np.generic):  # some are derived from Python's
        describe_number(value, place, into)
    elif type(value) not in _ATOMS:
        describe_object(value, place, into)
    else:
        into.put(place, repr(value))
    if isinstance(value, str):
        into.put_file(place, value)


for _atom in _ATOMS:
    describe.register(_atom, describe_atom)


@describe.register
def describe_number(value: np.generic, place: str, into: Description) -> None:
    """Describe a scalar of numpy as Python's number or text of the same value."""
    plain = value.item()
    if isinstance(plain, np.generic) or not isinstance(
        value, (np.number, np.bool_, np.character)
    ):  # Python has no such number
        describe_array(np.asarray(value), place, into)
    else:
        describe_atom(plain, place, into)


@describe.register
def describe_device(value: torch.device, place: str, into: Description) -> None:
    """Describe a device as its name."""
    describe_atom(str(value), place, into)


@describe.register
def describe_path(value: PurePath, place: str, into: Description) -> None:
    """Describe a path."""
    into.put(place, f"{name_of(type(value))} {str(value)!r}")
    into.put_file(place, str(value))


@describe.register(list)
@describe.register(tuple)
def describe_sequence(value: Any, place: str, into: Description) -> None:
    """Describe a list or tuple."""
    kind = type(value)
    if kind not in (list, tuple):
        describe_object(value, place, into)
        return
    with into.inside(place, value) as is_new:
        if not is_new:
            return
        pieces = None
        if len(value) > _MANY:
            is_plain = {*map(type, value)} <= {int, float, bool}
            pieces = [repr(value).encode()] if is_plain else into.folded(value, place)
        into.put(place, f"{kind.__name__} of {len(value)}", pieces)
        if pieces is None:
            for number, part in enumerate(value):
                describe(part, f"{place}[{number}]", into)


@describe.register(dict)
@describe.register(MappingProxyType)
def describe_mapping(value: Any, place: str, into: Description) -> None:
    """Describe a dict, whose order counts: a module may be built in it."""
    if type(value) not in (dict, MappingProxyType):
        describe_object(value, place, into)
        return
    with into.inside(place, value) as is_new:
        if not is_new:
            return
        if len(value) > _MANY or not all(type(key) in _KEYS for key in value):
            into.put(place, f"dict of {len(value)}", into.folded(value.items(), place))
            return
        into.put(place, f"dict of {', '.join(map(repr, value))}")
        for key, part in value.items():
            describe(part, f"{place}[{key!r}]", into)


@describe.register(set)
@describe.register(frozenset)
def describe_set(value: Any, place: str, into: Description) -> None:
    """Describe a set, whose order differs between processes."""
    if type(value) not in (set, frozenset):
        describe_object(value, place, into)
        return
    digests = []
    for part in value:
        alone = Description()
        describe(part, "", alone)
        into.include(alone)
        digests.append(digest(alone.pieces()))
    pieces = (text.encode() for text in sorted(digests))
    into.put(place, f"{name_of(type(value))} of {len(value)}", pieces)


@describe.register
def describe_array(value: np.ndarray, place: str, into: Description) -> None:
    """Describe an array by type, shape and values."""
    kind = "array" if type(value) in (np.ndarray, np.memmap) else name_of(type(value))
    text = f"{kind} of {value.dtype} {value.shape}"
    if isinstance(value, np.ma.MaskedArray):
        describe_array(np.ma.getmaskarray(value), f"{place}.mask", into)
        value = np.ma.getdata(value)
    if value.dtype.names is not None:
        into.put(place, text)
        for name in value.dtype.names:
            describe_array(value[name], f"{place}[{name!r}]", into)
    elif value.dtype.hasobject:
        into.put(place, text, into.folded(value.ravel().tolist(), place))
    else:
        into.put(place, text, _blocks_of(np.asarray(value)))


def _blocks_of(array: np.ndarray) -> Iterator[bytes]:
    """Yield the values in pieces, since a memory map may be larger than memory."""
    if array.ndim == 0 or not array.nbytes:
        yield array.tobytes()
        return
    n_rows = max(1, _BLOCK * len(array) // array.nbytes)
    for start in range(0, len(array), n_rows):
        yield array[start : start + n_rows].tobytes()


def _describe_generator(state: Any) -> Any:
    def describe_generator(value: Any, place: str, into: Description) -> None:
        inner = Description()
        describe(state(value), "", inner)
        into.generators.append(place)
        into.put(place, f"{name_of(type(value))} in a state", inner.pieces())

    return describe_generator


for _kind, _state in {
    np.random.RandomState: lambda rng: rng.get_state(legacy=False),
    np.random.Generator: lambda rng: rng.bit_generator.state,
    np.random.BitGenerator: lambda bits: bits.state,
    random.Random: lambda rng: rng.getstate(),
    torch.Generator: lambda rng: rng.get_state(),
}.items():
    describe.register(_kind, _describe_generator(_state))


@describe.register
def describe_callback(value: Callback, place: str, into: Description) -> None:
    """Describe a callback by its parameters, as skorch understands them.

    What it collects is kept in attributes whose names end in an underscore.
    """
    if type(value).__module__ == _ONLY_REPORT:
        into.put(place, name_of(type(value)))
    elif not into.has_met(place, value):
        describe_class(type(value), place, into)
        params = {k: v for k, v in vars(value).items() if not k.endswith("_")}
        describe_state(params, place, into)
