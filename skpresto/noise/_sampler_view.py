"""How an injector, which transforms ``y``, passes for a sampler where it must."""

import sys
from collections.abc import Callable
from types import MethodType
from typing import Any


class hidden_from_imblearn:
    """Method decorator: there for everyone but imbalanced-learn's Pipeline.

    That Pipeline asks its steps with ``hasattr`` what they are: a step with
    ``transform`` is a transformer of ``X``, one with ``fit_resample`` a sampler, one
    with both is refused. An injector has both, ``transform`` being meant for ``y``
    as in :class:`~sklearn.preprocessing.LabelEncoder`. To that one module it
    therefore shows its sampler side only; nothing else tells the two apart.
    """

    def __init__(self, method: Callable[..., Any]) -> None:
        self._method = method
        self.__doc__ = method.__doc__

    def __get__(self, instance: Any, owner: type) -> Callable[..., Any]:
        if sys._getframe(1).f_globals.get("__name__") == "imblearn.pipeline":
            raise AttributeError(
                f"{owner.__name__} is a sampler to imbalanced-learn's Pipeline"
            )
        return self._method if instance is None else MethodType(self._method, instance)
