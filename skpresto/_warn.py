"""Warnings that point at the line of whoever called ``fit``."""

import importlib.util
import inspect
import os
import warnings

import joblib
import sklearn

# skorch is found without the seconds that importing it takes.
_SKORCH = importlib.util.find_spec("skorch")

# What lies between the caller and us: our own files, scikit-learn's wrapper of fit,
# searches and ensembles that fit in this process, and skorch.
_INNER = tuple(
    os.path.dirname(path) + os.sep
    for path in (
        __file__,
        sklearn.__file__,
        joblib.__file__,
        _SKORCH and _SKORCH.origin,
    )
    if path
)


def warn_caller(message: str, category: type[Warning]) -> None:
    """Warn as if the line that called into this package did."""
    frame = inspect.currentframe()
    level = 0
    while frame is not None and frame.f_code.co_filename.startswith(_INNER):
        frame = frame.f_back
        level += 1
    warnings.warn(message, category, stacklevel=level + 1)
