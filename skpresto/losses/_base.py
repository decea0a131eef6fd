"""What all losses have in common: log-probabilities, targets, reduction."""

from abc import abstractmethod
from collections.abc import Callable
from numbers import Real
from typing import Any

import torch
from torch import Tensor, nn

_REDUCTIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "none": lambda losses: losses,
    "mean": torch.mean,
    "sum": torch.sum,
}
#: Smallest logarithm of a probability. A sum of such losses is still finite, and zero
#: times it is zero.
_LOWEST_LOG = -1e30


class RobustLoss(nn.Module):
    """A loss computed from log-probabilities, one number per sample."""

    def __init__(self, reduction: str) -> None:
        super().__init__()
        self.reduction = reduction
        is_known = isinstance(reduction, str) and reduction in _REDUCTIONS
        self._require(is_known, "reduction", f"one of {list(_REDUCTIONS)}")

    def _require(self, is_good: Any, name: str, needed: str) -> None:
        """Raise a sentence on the parameter ``name`` unless it is good."""
        if not is_good:
            raise ValueError(
                f"{type(self).__name__} needs {name} to be {needed}, got "
                f"{getattr(self, name)!r}."
            )

    def forward(self, logits: Tensor, targets: Tensor) -> Tensor:
        """Return the loss.

        Parameters
        ----------
        logits : Tensor of shape (n_samples, n_classes)
            Outputs of the network.
        targets : Tensor of shape (n_samples,) or (n_samples, n_classes)
            Class numbers, of an integer dtype, or class probabilities, of a
            floating-point dtype.

        Returns
        -------
        loss : Tensor of shape (), or (n_samples,) with ``reduction="none"``
            At least in single precision.
        """
        self._check_shapes(logits, targets)
        dtype = torch.promote_types(logits.dtype, torch.float32)
        log_p = torch.log_softmax(logits, dim=-1, dtype=dtype).clamp(min=_LOWEST_LOG)
        if targets.is_floating_point():
            targets = targets.to(dtype)
        return _REDUCTIONS[self.reduction](self._losses(log_p, targets))

    def _check_shapes(self, logits: Tensor, targets: Tensor) -> None:
        expected = logits.shape if targets.is_floating_point() else logits.shape[:1]
        if logits.dim() != 2 or targets.shape != expected:
            raise ValueError(
                f"{type(self).__name__} needs logits of shape (n_samples, n_classes) "
                "and class numbers of shape (n_samples,) or probabilities of the shape "
                f"of the logits, got logits of shape {tuple(logits.shape)} and targets "
                f"of shape {tuple(targets.shape)} and type {targets.dtype}."
            )

    @abstractmethod
    def _losses(self, log_p: Tensor, targets: Tensor) -> Tensor:
        """Return one loss per sample from log-probabilities (n_samples, n_classes)."""


def mean_at(values: Tensor, targets: Tensor) -> Tensor:
    """Return the value of the target class, or its mean under class probabilities."""
    if targets.is_floating_point():
        return (targets * values).sum(dim=1)
    return values.gather(1, targets.long().unsqueeze(1)).squeeze(1)


def is_between(value: Any, low: float, high: float) -> bool:
    """Return whether a parameter is a number in a closed interval."""
    return isinstance(value, Real) and bool(low <= float(value) <= high)
