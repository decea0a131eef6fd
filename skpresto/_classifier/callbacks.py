"""Check the user's skorch callbacks, and add the default schedule."""

from typing import Any

from skpresto._classifier.params import did_you_mean
from skpresto._networks.callbacks import (
    Callback,
    EarlyStopping,
    LRScheduler,
    ScheduleOfTheRun,
)


def checked_callbacks(estimator: Any, params: dict[str, Any]) -> list:
    """Return the user's callbacks, and the default schedule unless they have one.

    The callbacks are used as given, not copied, as in skorch.

    Parameters
    ----------
    estimator : classifier
        Its ``callbacks`` and ``max_epochs`` are used.
    params : dict
        Parameters for callbacks, by ``name__parameter``.
    """
    name = type(estimator).__name__
    given = estimator.callbacks or []
    if not isinstance(given, (list, tuple)):
        raise TypeError(
            f"{name} needs callbacks to be a list of skorch callbacks, got {given!r}."
        )
    callbacks = list(given)
    kinds = {_name(entry): _kind(entry) for entry in callbacks}
    for called, kind in kinds.items():
        if not issubclass(kind, Callback):
            raise TypeError(
                f"{name} needs callbacks to be skorch callbacks, but {called!r} is "
                "none. Derive it from skorch.callbacks.Callback."
            )
        if issubclass(kind, EarlyStopping):
            raise ValueError(
                f"{name} cannot use skorch's EarlyStopping, which ends training by "
                "raising KeyboardInterrupt. Choose a stop rule, or lower max_epochs."
            )
    for param in params:
        if param.partition("__")[0] not in kinds:
            hint = did_you_mean(param, [f"{called}__" for called in kinds])
            raise ValueError(
                f"{name} got callbacks__{param}, but its callbacks are called "
                f"{sorted(kinds)}{hint or '.'}"
            )
    if any(issubclass(kind, LRScheduler) for kind in kinds.values()):
        return callbacks
    return [*callbacks, ("lr_schedule", ScheduleOfTheRun())]


def _kind(entry: Any) -> type:
    callback = entry[1] if isinstance(entry, tuple) else entry
    return callback if isinstance(callback, type) else type(callback)


def _name(entry: Any) -> str:
    return entry[0] if isinstance(entry, tuple) else _kind(entry).__name__
