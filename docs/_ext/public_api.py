"""Find the public names of the package, so that none is missing from the reference."""

import inspect
import pkgutil
from collections.abc import Iterator
from importlib import import_module
from types import ModuleType

import skpresto

#: Modules that are programs, not libraries; they have a page of their own.
PROGRAMS = {"skpresto.__main__", "skpresto.cli"}


def public_modules() -> list[str]:
    """Return the names of all modules without an underscore that offer something."""
    found = ["skpresto"]
    for info in pkgutil.walk_packages(skpresto.__path__, "skpresto."):
        parts = info.name.split(".")
        is_private = any(part.startswith("_") for part in parts)
        is_program = any(info.name.startswith(program) for program in PROGRAMS)
        if not is_private and not is_program and public_names(info.name):
            found.append(info.name)
    return found


def public_names(module_name: str) -> list[str]:
    """Return what a module offers: ``__all__``, or what is defined in it."""
    module = import_module(module_name)
    if hasattr(module, "__all__"):
        return list(module.__all__)
    return sorted(_defined_in(module))


def _defined_in(module: ModuleType) -> Iterator[str]:
    for name, value in vars(module).items():
        is_object = inspect.isclass(value) or inspect.isfunction(value)
        is_own = getattr(value, "__module__", None) == module.__name__
        if is_object and is_own and not name.startswith("_"):
            yield name


def own_members(cls: type) -> tuple[list[str], list[str]]:
    """Return the public methods and properties that this package defines for a class.

    Those that a class inherits from scikit-learn, skorch or torch are left out.
    """
    methods, properties = [], []
    for name in dir(cls):
        owner = next((base for base in cls.__mro__ if name in vars(base)), None)
        is_own = owner is not None and owner.__module__.startswith("skpresto")
        if name.startswith("_") or not is_own:
            continue
        value = inspect.getattr_static(cls, name)
        if isinstance(value, (classmethod, staticmethod)) or inspect.isfunction(value):
            methods.append(name)
        elif isinstance(value, property) or hasattr(value, "attrname"):
            properties.append(name)
    return methods, properties


def inherited_methods(cls: type) -> list[str]:
    """Return the names of public methods that a class has from other packages."""
    own, _ = own_members(cls)
    return [
        name
        for name in dir(cls)
        if not name.startswith("_")
        and name not in own
        and inspect.isfunction(getattr(cls, name, None))
    ]
