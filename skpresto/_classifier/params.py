"""skorch's prefixed parameters on a scikit-learn estimator."""

import difflib
import inspect
from functools import partial
from itertools import filterfalse
from operator import attrgetter
from typing import Any

#: Prefixes of parameters, as in ``optimizer__weight_decay``.
PREFIXES = (
    "module",
    "criterion",
    "optimizer",
    "iterator_train",
    "iterator_valid",
    "callbacks",
    "compile",
)

#: Parameters of the net without a prefix.
_OF_THE_NET = ("autocast", "compile")


def _is_hidden(cls: type, name: str) -> bool:
    """Return whether a constructor does not name a parameter, but one above it does."""
    if name in inspect.signature(cls).parameters or is_net_param(name):
        return False
    constructors = [
        vars(base)["__init__"] for base in cls.__mro__[1:-1] if "__init__" in vars(base)
    ]
    return any(name in inspect.signature(c).parameters for c in constructors)


def is_net_param(name: str) -> bool:
    """Return whether a parameter belongs to a part of the net."""
    prefix, separator, rest = name.partition("__")
    return name in _OF_THE_NET or (prefix in PREFIXES and bool(separator and rest))


#: Names of version 0.1, which resemble other ones.
_RENAMED = {"folds": "cv"}


def did_you_mean(name: str, known: list[str]) -> str:
    """Return a hint at the nearest known name, or an empty string."""
    if _RENAMED.get(name) in known:
        return f", did you mean {_RENAMED[name]!r}?"
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.6)
    return f", did you mean {near[0]!r}?" if near else ""


#: Parameters of a function that take any arguments.
_CATCH_ALL = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
#: Names in a constructor that are not parameters.
_NOT_STORED = ("self", "net_params", "__class__")


class NetParamsMixin:
    """Get and set parameters such as ``module__hidden`` like any others.

    They are kept as attributes of the same name, so ``clone``, ``GridSearchCV`` and
    ``repr`` see them. As scikit-learn requires, the constructor does not validate; an
    unknown name raises an error in ``fit``.
    """

    #: Unknown names given to the constructor; set only if there are any.
    _unexpected: tuple[str, ...] = ()

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        """Refuse arguments that a ``**kwargs`` of a subclass hides from ``clone``."""
        hidden = list(filter(partial(_is_hidden, cls), kwargs))
        if hidden:
            raise TypeError(
                f"{cls.__name__} was given {', '.join(hidden)}, which its constructor "
                "takes by ** only, so that scikit-learn does not know them: clone() "
                "and get_params() would lose them. Write them in the signature of "
                f"{cls.__name__}.__init__, and pass them on by name."
            )
        return super().__new__(cls)

    def _store(self, arguments: dict[str, Any]) -> None:
        """Store the arguments of the constructor, which are its ``locals()``."""
        own = {k: v for k, v in arguments.items() if k not in _NOT_STORED}
        vars(self).update(own)
        self._store_further_params(arguments["net_params"])

    def _store_further_params(self, further: dict[str, Any]) -> None:
        """Store arguments beyond those in the signature."""
        vars(self).update(further)
        unexpected = filterfalse(is_net_param, further)
        self._unexpected = (*self._unexpected, *unexpected)

    def _further_params(self) -> dict[str, Any]:
        names = [*filter(is_net_param, vars(self)), *self._unexpected]
        return dict(zip(names, map(vars(self).get, names), strict=True))

    def _net_params(self) -> dict[str, Any]:
        """Return the parameters of the parts of the net; raise for unknown ones."""
        for name in self._unexpected:
            raise TypeError(
                f"{type(self).__name__} got an unexpected argument {name!r}"
                + (did_you_mean(name, self._known_names(name)) or ".")
            )
        return self._further_params()

    def _known_names(self, misspelt: str) -> list[str]:
        """Return valid names similar to ``misspelt``."""
        own = list(inspect.signature(type(self)).parameters)[:-1]
        # Both "modul__width" and "module_width" are close to "module__width".
        prefix, _, rest = misspelt.partition("__")
        meant = [
            f"{near}__{rest}" for near in difflib.get_close_matches(prefix, PREFIXES)
        ]
        meant += [
            f"{known}__{misspelt[len(known) :].lstrip('_')}"
            for known in PREFIXES
            if misspelt.startswith(f"{known}_")
        ]
        return own + meant

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Get the parameters of this estimator, those of its net included.

        Parameters
        ----------
        deep : bool, default=True
            Whether to include the parameters of contained objects, such as the stop
            rule.

        Returns
        -------
        params : dict
            Parameter names mapped to their values.
        """
        return {**super().get_params(deep=deep), **self._further_params()}  # type: ignore[misc]

    def set_params(self, **params: Any) -> Any:
        """Set parameters of this estimator, of contained objects or of its net."""
        further = {
            name: params.pop(name)
            for name in list(params)
            # The name of the catch-all is not a parameter, but users may try it.
            if is_net_param(name) or name == "net_params"
        }
        known = self.get_params(deep=True)
        for name in params:
            owner = name.partition("__")[0]
            if owner not in known:
                raise ValueError(
                    f"Invalid parameter {name!r} for estimator {self}"
                    + (did_you_mean(name, self._known_names(name) + list(known)) or ".")
                )
            value = params.get(owner, known[owner])
            if owner != name and value is not None and not hasattr(value, "set_params"):
                raise ValueError(
                    f"Invalid parameter {name!r} for estimator {self}: {owner} is "
                    f"{value!r}, which has no parameters of its own."
                )
            if owner != name and value is None:
                raise ValueError(
                    f"{type(self).__name__} cannot set {name}, since {owner} is None. "
                    f"Give {owner} a value first, or in the same call."
                )
        self._store_further_params(further)
        return super().set_params(**params)  # type: ignore[misc]


def check_part_params(estimator: Any, prefix: str, part: Any, known: dict) -> None:
    """Raise if ``part``, a class, does not take the parameters given for it."""
    try:
        parameters = inspect.signature(part).parameters
    except (TypeError, ValueError):  # written in C: it raises by itself
        return
    kinds = map(attrgetter("kind"), parameters.values())
    if inspect.Parameter.VAR_KEYWORD in kinds:
        return
    for name in known:
        if name.partition("__")[0] not in {*parameters, "param_groups"}:
            takes = [f"{prefix}__{taken}" for taken in parameters]
            raise ValueError(
                f"{type(estimator).__name__} got {prefix}__{name}, which "
                f"{getattr(part, '__name__', part)} does not take"
                + (did_you_mean(f"{prefix}__{name}", takes) or ".")
            )


def check_required_params(estimator: Any, prefix: str, part: Any, given: dict) -> None:
    """Raise if ``part``, a class, needs parameters that were not given."""
    try:
        parameters = inspect.signature(part).parameters.values()
    except (TypeError, ValueError):  # written in C: it raises by itself
        return
    missing = []
    for p in parameters:
        is_required = p.default is p.empty and p.kind not in _CATCH_ALL
        if is_required and p.name not in given:
            missing.append(f"{prefix}__{p.name}")
    if missing:
        raise TypeError(
            f"{type(estimator).__name__} needs {' and '.join(missing)}, without which "
            f"{getattr(part, '__name__', part)} cannot be built. Pass the missing "
            f"parameters, or an instance as {prefix}."
        )
