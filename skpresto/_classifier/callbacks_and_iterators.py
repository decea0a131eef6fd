"""Check the iterators and callbacks that users give, and add the default schedule."""

from numbers import Integral
from typing import Any

from torch.optim.lr_scheduler import MultiStepLR
from torch.utils.data import DataLoader

from skpresto._classifier.params import check_part_params, did_you_mean
from skpresto._networks.callbacks import (
    Callback,
    Checkpoint,
    EarlyStopping,
    LRScheduler,
    ScheduleOfTheRun,
)
from skpresto._warn import warn_caller

#: Parameters with which predictions would not be one per row, in the order of rows.
_NOT_IN_ORDER = ("drop_last", "shuffle", "sampler", "batch_sampler")

#: What skorch's Checkpoint follows.
_BY_DEFAULT = "valid_loss_best"


def check_iterators(
    estimator: Any, train: dict[str, Any], valid: dict[str, Any]
) -> None:
    """Raise for parameters that an iterator does not take, or that lose rows."""
    check_part_params(estimator, "iterator_train", DataLoader, train)
    check_part_params(estimator, "iterator_valid", DataLoader, valid)
    for prefix, given in (("iterator_train", train), ("iterator_valid", valid)):
        size = given.get("batch_size", 1)
        if not isinstance(size, Integral) or (size < 1 and size != -1):
            raise ValueError(
                f"{type(estimator).__name__} needs {prefix}__batch_size to be a "
                f"positive int, or -1 for all rows, got {size!r}."
            )
    for name in _NOT_IN_ORDER:
        if valid.get(name):
            raise ValueError(
                f"{type(estimator).__name__} predicts every row in its order, so "
                f"iterator_valid__{name}={valid[name]!r} cannot be used. Remove it; "
                f"iterator_train__{name} has an effect on training only."
            )


def checked_callbacks(
    estimator: Any, params: dict[str, Any], is_validated: bool
) -> list:
    """Return the user's callbacks, and the default schedule unless they have one.

    The callbacks are used as given, not copied, as in skorch.

    Parameters
    ----------
    estimator : classifier
        Its ``callbacks`` and ``max_epochs`` are used.
    params : dict
        Parameters for callbacks, by ``name__parameter``.
    is_validated : bool
        Whether there are validation data, of which the loss is recorded.
    """
    name = type(estimator).__name__
    given = estimator.callbacks or []
    if not isinstance(given, (list, tuple)):
        raise TypeError(
            f"{name} needs callbacks to be a list of skorch callbacks, got {given!r}."
        )
    callbacks = list(given)
    kinds = dict(map(_named_kind, callbacks))
    _check_kinds(name, kinds, params)
    if callbacks and not is_validated:
        _warn_of_monitors(name, callbacks)
    if any(issubclass(kind, LRScheduler) for kind in kinds.values()):
        return callbacks
    schedule = ScheduleOfTheRun(MultiStepLR, gamma=0.2, event_name=None)
    return [*callbacks, ("lr_schedule", schedule)]


def _check_kinds(name: str, kinds: dict[str, type], params: dict[str, Any]) -> None:
    """Raise for what is no callback, for EarlyStopping, and for unknown parameters."""
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


def _warn_of_monitors(name: str, callbacks: list) -> None:
    """Warn if a checkpoint is to follow a loss that is not measured."""
    given = [entry[1] if isinstance(entry, tuple) else entry for entry in callbacks]
    if any(getattr(callback, "name", None) == "valid_loss" for callback in given):
        return
    for callback in given:
        # A class will be made with its defaults.
        is_checkpoint = isinstance(callback, Checkpoint) or callback is Checkpoint
        if is_checkpoint and getattr(callback, "monitor", _BY_DEFAULT) == _BY_DEFAULT:
            warn_caller(
                f"{name} got Checkpoint(monitor={_BY_DEFAULT!r}), skorch's default, "
                "and no validation data: checkpoints are made where the training loss "
                "is lowest, by which time wrong labels may be memorized. Pass X_val "
                "and y_val to fit(), or choose monitor='train_loss_best'.",
                UserWarning,
            )


def _named_kind(entry: Any) -> tuple[str, type]:
    """Return the name and the class of a callback, as skorch names them."""
    callback = entry[1] if isinstance(entry, tuple) else entry
    kind = callback if isinstance(callback, type) else type(callback)
    return entry[0] if isinstance(entry, tuple) else kind.__name__, kind
