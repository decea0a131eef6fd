"""Predicted classes, and what to do about samples that have none."""

import torch
from torch import Tensor

#: Stands for the class of a sample without a prediction.
MISSING = -1


def classes_of(outputs: Tensor) -> Tensor:
    """Return the class with the largest logit, or MISSING where that is not finite."""
    classes = outputs.argmax(dim=-1)
    # Not a number if any logit is not finite, and faster than a look at each row.
    if outputs.sum().isfinite():
        return classes
    return torch.where(outputs.amax(dim=-1).isfinite(), classes, MISSING)


def require_predictions(is_missing: Tensor) -> None:
    """Raise if samples have no prediction."""
    if not is_missing.any():
        return
    rows = is_missing.nonzero().squeeze(1)
    raise ValueError(
        f"module returned no finite logits for {len(rows)} of {len(is_missing)} "
        f"samples, the first of them in row {int(rows[0])}, so they have no "
        "prediction. Check these rows for unusual values, and the module for divisions "
        "and logarithms."
    )
