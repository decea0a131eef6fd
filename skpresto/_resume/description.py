"""What a value consists of, in a form that is the same in every process.

Pickles of equal objects may differ: by strings that happen to be one object, by the
order of sets, by names of functions that stand for other code. Descriptions tell apart
what can change a fit, and nothing else.
"""

import copyreg
import hashlib
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import singledispatch
from typing import Any

from skpresto._resume.installed import package_of

#: Stands before the digest in a text.
DIGEST = " #"
#: Longer texts are cut, with a digest of the whole.
_LONGEST_TEXT = 80
#: Bytes of a file that are read at once.
_BLOCK = 1 << 22


class Description:
    """Texts by place, such as ``criterion.label_smoothing``.

    Parameters
    ----------
    reads_files : bool, default=False
        Whether the path of a file also stands for what is in the file.

    Attributes
    ----------
    texts : dict of str
        What is at each place. A text ends in a digest if not all of it is there.
    unknown : list of str
        Places of what cannot be compared by value, each with its class.
    generators : list of str
        Places of random generators.
    packages : set of str
        Installed packages that classes and functions were found in.
    """

    def __init__(self, reads_files: bool = False) -> None:
        self.texts: dict[str, str] = {}
        self.unknown: list[str] = []
        self.generators: list[str] = []
        self.packages: set[str] = set()
        self._reads_files = reads_files
        self._places: dict[int, str] = {}
        self._met: list[Any] = []  # kept, so that nothing else gets the id of one
        self._open: set[int] = set()

    def put(self, place: str, text: str, content: Iterable[Any] | None = None) -> None:
        """Add a text, and a digest of ``content``, bytes in pieces, if there is any."""
        if content is not None:
            text += DIGEST + digest(content)
        elif len(text) > _LONGEST_TEXT:
            text = f"{text[:40]}...{DIGEST}{digest([text.encode()])}"
        self.texts[place] = text

    def put_unknown(self, place: str, value: Any) -> None:
        """Note that a value cannot be compared."""
        name = name_of(type(value))
        self.unknown.append(f"{place} ({name})")
        self.put(place, f"{name}, which cannot be compared")

    def put_file(self, place: str, path: str | os.PathLike) -> None:
        """Add what is in a file, if that is asked for and there is one."""
        if self._reads_files and os.path.isfile(path):
            self.put(f"{place}: content", "file", _content_of(path))

    def has_met(self, place: str, value: Any) -> bool:
        """Return whether an object was described before; then say so at its place."""
        if id(value) in self._places:
            self.put(place, f"the same as {self._places[id(value)]}")
            return True
        self._places[id(value)] = place
        self._met.append(value)
        return False

    @contextmanager
    def inside(self, place: str, container: Any) -> Iterator[bool]:
        """Enter a container; False, noted at its place, if it contains itself."""
        if id(container) in self._open:
            self.put(place, "what contains it")
            yield False
            return
        self._open.add(id(container))
        yield True
        self._open.remove(id(container))

    def folded(self, parts: Iterable[Any], place: str) -> Iterator[bytes]:
        """Yield descriptions of many parts, for a digest of them."""
        inner = Description(self._reads_files)
        inner._places, inner._met, inner._open = self._places, self._met, self._open
        for number, part in enumerate(parts):
            describe(part, f"{place}[{number}]", inner)
            yield from inner.pieces()
            inner.texts.clear()
        self.include(inner)

    def include(self, other: "Description") -> None:
        """Note what was found elsewhere, without its texts."""
        self.unknown += other.unknown
        self.generators += other.generators
        self.packages |= other.packages

    def pieces(self) -> Iterator[bytes]:
        """Yield all texts with their places, for a digest."""
        for place, text in self.texts.items():
            yield f"{place}={text}\n".encode()


def describe_object(value: Any, place: str, into: Description) -> None:
    """Describe any object: its class, and what pickle would store of it.

    Parameters
    ----------
    value : object
        Anything.
    place : str
        Where it was found.
    into : Description
        To which texts are added.
    """
    if into.has_met(place, value):
        return
    reduced = _reduced(value)
    if reduced is None:
        into.put_unknown(place, value)
    elif isinstance(reduced, str):  # the name of something in a module
        into.put(place, f"{name_of(type(value))} {reduced}")
    else:
        describe_class(type(value), place, into)
        _describe_reduced(reduced, type(value), place, into)


#: Describes a value of any kind, with the arguments of :func:`describe_object`. Other
#: modules register what is described in another way.
describe = singledispatch(describe_object)


def _reduced(value: Any) -> Any:
    """Return what pickle would store of an object, None if it cannot."""
    reduce = copyreg.dispatch_table.get(type(value))
    try:
        return value.__reduce_ex__(4) if reduce is None else reduce(value)
    except RecursionError:
        raise
    except Exception:  # of any type, from the code of the object
        return None


def _describe_reduced(
    reduced: tuple, kind: type, place: str, into: Description
) -> None:
    function, arguments, state, items, pairs = (*reduced, None, None, None)[:5]
    if getattr(function, "__module__", None) != "copyreg" and function is not kind:
        describe(function, f"{place}.__reduce__", into)
    if arguments and arguments[0] is kind:
        arguments = arguments[1:]
    for number, argument in enumerate(arguments or ()):
        describe(argument, f"{place}({number})", into)
    describe_state(state, place, into)
    for number, item in enumerate(items or ()):
        describe(item, f"{place}[{number}]", into)
    for number, pair in enumerate(pairs or ()):
        describe(pair, f"{place}[{number}]", into)


def describe_state(state: Any, place: str, into: Description) -> None:
    """Describe the attributes of an object, as pickle would store them."""
    of_slots = isinstance(state, tuple) and len(state) == 2
    parts = state if of_slots else (state,)
    if not all(part is None or isinstance(part, dict) for part in parts):
        describe(state, f"{place}.__getstate__()", into)
        return
    for part in parts:
        for name in sorted(part or {}, key=str):
            describe(part[name], f"{place}.{name}", into)


def describe_class(kind: type, place: str, into: Description) -> None:
    """Name the class of the object at a place, and describe it if it is the user's."""
    into.put(place, name_of(kind))
    package = package_of(kind)
    if package is None:
        describe(kind, f"{place}.__class__", into)
    else:
        into.packages.add(package)


def name_of(kind: Any) -> str:
    """Return the name of a class or function with that of its module."""
    name = getattr(kind, "__qualname__", type(kind).__qualname__)
    module = getattr(kind, "__module__", None)
    return name if module in ("builtins", None) else f"{module}.{name}"


def digest(content: Iterable[Any]) -> str:
    """Return a digest of bytes in pieces."""
    found = hashlib.sha256()
    for piece in content:
        found.update(piece)
    return found.hexdigest()[:20]


def _content_of(path: str | os.PathLike) -> Iterator[bytes]:
    with open(path, "rb") as file:
        yield from iter(lambda: file.read(_BLOCK), b"")
