"""The parameters of a classifier that differ from their defaults, for the results."""

import inspect
from typing import Any

# The seed is part of the cell, and callbacks only watch.
_LEFT_OUT = ("callbacks", "random_state", "seed")
_PLAIN = (bool, int, float, str, type(None))


def changed_params(classifier: Any) -> dict[str, Any]:
    """Return the parameters that differ from their defaults, as JSON can store them.

    Examples
    --------
    >>> from sklearn.ensemble import ExtraTreesClassifier
    >>> changed_params(ExtraTreesClassifier(max_depth=3, random_state=0))
    {'max_depth': 3}
    """
    parameters = inspect.signature(type(classifier)).parameters
    return {
        name: _as_json(value)
        for name, value in classifier.get_params(deep=False).items()
        if name not in _LEFT_OUT
        # Parameters with two underscores are not in the signature.
        and not (name in parameters and _is_same(value, parameters[name].default))
    }


def _is_same(value: Any, default: Any) -> bool:
    return value is default or (type(value) is type(default) and value == default)


def _as_json(value: Any) -> Any:
    if isinstance(value, _PLAIN):
        return value
    if inspect.isclass(value) or inspect.isfunction(value):
        return value.__qualname__
    if hasattr(value, "fit"):
        return {"class": type(value).__name__, **changed_params(value)}
    return repr(value)
