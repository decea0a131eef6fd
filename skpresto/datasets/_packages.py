"""Packages that only some data sets need."""

from importlib import import_module
from typing import Any


def needed(who: str, module: str, package: str, task: str, extra: str) -> Any:
    """Return a module, and say how to get its package if it is missing.

    Parameters
    ----------
    who : str
        Name of the function or class that needs it.
    module : str
        The module to import.
    package : str
        Name of its package.
    task : str
        What it is needed for.
    extra : str
        Extra of this package that installs it.
    """
    try:
        return import_module(module)
    except ImportError:
        raise ImportError(
            f"{who} needs {package} to {task}, but it is not installed. Install it "
            f"with 'python -m pip install {package.lower()}', or with "
            f"'skpresto[{extra}]'."
        ) from None
