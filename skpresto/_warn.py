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


def warn_caller(finding: str, category: type[Warning], advice: str = "") -> None:
    """Warn as if the line that called into this package did.

    Parameters
    ----------
    finding : str
        What was found.
    category : type of Warning
        The category.
    advice : str, default=""
        What helps, by names of parameters; the command line gives its own advice.
    """
    warning = category(f"{finding} {advice}".strip())
    warning.__dict__["finding"] = finding
    frame = inspect.currentframe()
    level = 0
    while frame is not None and frame.f_code.co_filename.startswith(_INNER):
        frame = frame.f_back
        level += 1
    warnings.warn(warning, stacklevel=level + 1)


def finding_of(warning: Warning | str) -> str:
    """Return what a warning says, without advice and the name of the classifier."""
    finding = str(getattr(warning, "finding", warning))
    name, colon, rest = finding.partition(": ")
    return rest[:1].upper() + rest[1:] if colon and name.isidentifier() else finding
