"""Functions, classes and modules of the user, by code: a name may get another one."""

from collections.abc import Callable, Iterator
from functools import cached_property
from inspect import getclosurevars
from types import (
    BuiltinFunctionType,
    CodeType,
    FunctionType,
    GetSetDescriptorType,
    MemberDescriptorType,
    MethodType,
    ModuleType,
)
from typing import Any

from skpresto._resume.description import (
    Description,
    describe,
    name_of,
)
from skpresto._resume.installed import package_of, package_of_module

#: Members of a class that do not change what it does.
_NOT_BEHAVIOUR = {
    "__abstractmethods__",
    "__annotate_func__",
    "__annotations__",
    "__annotations_cache__",
    "__dataclass_fields__",
    "__dataclass_params__",
    "__dict__",
    "__doc__",
    "__firstlineno__",
    "__module__",
    "__orig_bases__",
    "__parameters__",
    "__static_attributes__",
    "__weakref__",
    "_abc_impl",
}


@describe.register
def describe_type(value: type, place: str, into: Description) -> None:
    """Describe a class: by name if it is installed, else by its members and bases."""
    if _is_installed(value, place, into) or into.has_met(place, value):
        return
    into.put(place, name_of(value))
    for number, base in enumerate(value.__bases__):
        describe(base, f"{place}.__bases__[{number}]", into)
    for name, member in sorted(vars(value).items()):
        if name not in _NOT_BEHAVIOUR:
            describe(member, f"{place}.{name}", into)


@describe.register
def describe_function(value: FunctionType, place: str, into: Description) -> None:
    """Describe a function: by name if it is installed, else by code and what it uses.

    That is its defaults, the variables around it, and the globals that it names.
    """
    if _is_installed(value, place, into) or into.has_met(place, value):
        return
    parts: dict[str, Any] = {
        "__defaults__": value.__defaults__,
        "__kwdefaults__": value.__kwdefaults__,
    }
    try:
        parts |= getclosurevars(value).nonlocals
    except ValueError:  # one of the variables around it has no value yet
        into.put_unknown(place, value)
    into.put(place, name_of(value), into.folded([value.__code__], place))
    parts |= vars(value)
    if package_of_module(value.__globals__.get("__name__", "")) is None:
        parts |= _globals_of(value)
    for name, part in parts.items():
        if part is not None:
            describe(part, f"{place}: {name}", into)


def _is_installed(value: Any, place: str, into: Description) -> bool:
    package = package_of(value)
    if package is None:
        return False
    into.packages.add(package)
    into.put(place, name_of(value))
    return True


def _globals_of(function: FunctionType) -> dict[str, Any]:
    """Return the globals that a function names, and what it names in modules."""
    found = {}
    names = sorted(_names_in(function.__code__))
    for name in names:
        value = function.__globals__.get(name)
        if not isinstance(value, ModuleType) or package_of_module(value.__name__):
            found[name] = value
            continue
        for part in names:
            found[f"{name}.{part}"] = getattr(value, part, None)
    return found


def _names_in(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names_in(constant)


@describe.register
def describe_bytecode(value: CodeType, place: str, into: Description) -> None:
    """Describe what is executed, wherever it stands in a file."""
    n_arguments = value.co_argcount + value.co_kwonlyargcount
    parts = (
        value.co_code,
        value.co_exceptiontable,
        value.co_names,
        value.co_varnames[:n_arguments],
        (value.co_argcount, value.co_posonlyargcount, value.co_flags),
        *value.co_consts,
    )
    into.put(place, "code", into.folded(parts, place))


@describe.register
def describe_module(value: ModuleType, place: str, into: Description) -> None:
    """Describe a module: by name if it is installed, else by its file."""
    package = package_of_module(value.__name__)
    into.put(place, f"module {value.__name__}")
    if package is not None:
        into.packages.add(package)
    elif getattr(value, "__file__", None):
        with open(value.__file__, "rb") as file:  # type: ignore[arg-type]
            into.put(place, f"module {value.__name__}", [file.read()])
    else:
        into.put_unknown(place, value)


@describe.register
def describe_built_in(
    value: BuiltinFunctionType, place: str, into: Description
) -> None:
    """Describe a function written in C, and the object that it is a method of."""
    owner = value.__self__
    if isinstance(owner, type) and package_of_module(owner.__module__):
        into.packages.add(owner.__module__.partition(".")[0])
        into.put(place, f"{name_of(owner)}.{value.__name__}")
    elif not _is_installed(value, place, into):
        if owner is None or isinstance(owner, ModuleType):
            into.put_unknown(place, value)
        else:
            into.put(place, value.__qualname__)
            describe(owner, f"{place}.__self__", into)


@describe.register
def describe_member(value: MemberDescriptorType, place: str, into: Description) -> None:
    """Describe an attribute of a class with slots."""
    into.put(place, f"slot {value.__name__}")


def _by_parts(*names: str) -> Callable[[Any, str, Description], None]:
    def describe_parts(value: Any, place: str, into: Description) -> None:
        into.put(place, type(value).__name__)
        for name in names:
            describe(getattr(value, name, None), f"{place}.{name}", into)

    return describe_parts


describe.register(GetSetDescriptorType, _by_parts("__name__"))
describe.register(MethodType, _by_parts("__func__", "__self__"))
describe.register(staticmethod, _by_parts("__func__"))
describe.register(classmethod, _by_parts("__func__"))
describe.register(property, _by_parts("fget", "fset", "fdel"))
describe.register(cached_property, _by_parts("func"))


def describe_cached(value: Any, place: str, into: Description) -> None:
    """Describe a function with a cache, which is a C object, by what it calls."""
    if not _is_installed(value, place, into):
        describe(value.__wrapped__, place, into)


describe.register(type(package_of_module), describe_cached)
