"""What may come of a hostile input: a result that is right, or an error that helps."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

#: What messages of torch, numpy and Python have in common that users should not see.
RAW = re.compile(
    "mat1 and mat2|scalar type|size of tensor|shape mismatch|could not be broadcast"
    "|has no attribute|is not (iterable|callable|subscriptable)|out of (range|bounds)"
    "|unhashable|unexpected keyword|positional argument|not supported between"
    "|invalid literal|truth value|is ambiguous|list of Tensors|unpack"
    "|referenced before|unsupported operand|can't convert|cannot be interpreted as"
    "|must be real number|embedded null|'>' |'<' "
)


@dataclass(frozen=True)
class Works:
    """The call succeeds, and ``check``, if given, holds for its result."""

    check: Callable[..., Any] | None = None


@dataclass(frozen=True)
class Refused:
    """The call raises an error whose message matches.

    ``quotes`` is True where the message begins with a sentence of ours, and then quotes
    what code of the user has raised.
    """

    message: str
    kind: type[Exception] | tuple[type[Exception], ...] = (ValueError, TypeError)
    quotes: bool = False


@dataclass(frozen=True)
class Case:
    """One line of a table: a name, arguments and what comes of them."""

    name: str
    expected: Works | Refused
    arguments: dict[str, Any] = field(default_factory=dict)


def case(name: str, expected: Works | Refused | str, **arguments: Any) -> Case:
    """Return a case; a string is the message of an error."""
    if isinstance(expected, str):
        expected = Refused(expected)
    return Case(name, expected, arguments)


def params(cases: list[Case]) -> Any:
    """Return a decorator that runs a test on every line of a table."""
    names = [case.name for case in cases]
    doubles = {name for name in names if names.count(name) > 1}
    assert not doubles, f"two cases of the same name: {doubles}"
    return pytest.mark.parametrize("case", cases, ids=names)


def outcome(expected: Works | Refused, call: Callable[[], Any]) -> Any:
    """Call, and check that it comes as expected; return the result or the error."""
    if isinstance(expected, Works):
        return call()
    with pytest.raises(expected.kind) as caught:
        call()
    error = caught.value
    assert re.search(expected.message, str(error), re.DOTALL), repr(error)
    if expected.quotes:
        assert error.__cause__ is not None, repr(error)
    else:
        assert not RAW.search(str(error)), repr(error)
    return error
