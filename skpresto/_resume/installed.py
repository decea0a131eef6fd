"""What belongs to an installed package, whose version stands for its code."""

import sys
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

#: Folders of installed packages.
_FOLDERS = {"site-packages", "dist-packages"}


def package_of(value: Any) -> str | None:
    """Return the package that a class or function can be imported from.

    None if that is not installed, but code of the user, or if the value cannot be
    imported by its name, since a call has made it.

    Examples
    --------
    >>> import numpy as np
    >>> package_of(np.random.RandomState), package_of(len), package_of(lambda: 0)
    ('numpy', 'builtins', None)
    """
    module = getattr(value, "__module__", None)
    name = getattr(value, "__qualname__", None)
    if not (isinstance(module, str) and isinstance(name, str)):
        return None
    # torch's functions name a class that cannot be imported, and are in the module.
    found = _imported(module, name), _imported(module, name.rpartition(".")[2])
    is_found = any(each is value for each in found)
    return package_of_module(module) if is_found else None


def _imported(module: str, name: str) -> Any:
    found: Any = sys.modules.get(module)
    for part in name.split("."):
        found = getattr(found, part, None)
    return found


@cache
def package_of_module(module: str) -> str | None:
    """Return the package of a module, None if it is not installed."""
    package = module.partition(".")[0]
    if package in sys.stdlib_module_names or package == "skpresto":
        return package
    file = getattr(sys.modules.get(module), "__file__", None)
    is_installed = file is not None and _FOLDERS & set(Path(file).parts)
    return package if is_installed else None


def version_of(package: str) -> str | None:
    """Return the version of a package, None if it has none of its own."""
    if package in sys.stdlib_module_names:
        return None
    named = getattr(sys.modules.get(package), "__version__", None)
    try:
        return str(named or version(package))
    except PackageNotFoundError:
        return None
