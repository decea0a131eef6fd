"""Parameters of the iterators over training batches and over rows to predict."""

from numbers import Integral
from typing import Any

from torch.utils.data import DataLoader

from skpresto._classifier.params import check_part_params

#: Parameters with which predictions would not be one per row, in the order of rows.
_NOT_IN_ORDER = ("drop_last", "shuffle", "sampler", "batch_sampler")


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
