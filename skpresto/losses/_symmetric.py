"""Symmetric cross-entropy."""

import math

from torch import Tensor

from skpresto.losses._base import RobustLoss, is_between, mean_at

#: Smallest probability of a target in reverse cross-entropy.
_SMALLEST_TARGET = 1e-4


class SCELoss(RobustLoss):
    """Symmetric cross-entropy: cross-entropy plus reverse cross-entropy.

    The loss is ``-alpha * log(p[y]) - beta * sum(p * log(t))`` with the one-hot target
    t, where log 0 is replaced by log 0.0001 = -9.21, so that the second term is
    ``9.21 * beta * (1 - p[y])`` [1]_.

    Parameters
    ----------
    alpha : float, default=0.1
        Weight of cross-entropy. The paper uses 0.1 for 10 classes and 6 for 100.
    beta : float, default=1.0
        Weight of reverse cross-entropy. The paper uses 1 for 10 classes and 0.1 for
        100.
    reduction : {"mean", "sum", "none"}, default="mean"
        What is returned: the mean of the losses, their sum, or one per sample.

    References
    ----------
    .. [1] Y. Wang et al., "Symmetric cross entropy for robust learning with noisy
       labels", ICCV 2019.

    Examples
    --------
    >>> import torch
    >>> from skpresto.losses import SCELoss
    >>> round(SCELoss()(torch.zeros(1, 2), torch.tensor([0])).item(), 4)
    4.6745
    """

    def __init__(
        self, alpha: float = 0.1, beta: float = 1.0, reduction: str = "mean"
    ) -> None:
        super().__init__(reduction)
        self.alpha = alpha
        self.beta = beta
        for name, value in {"alpha": alpha, "beta": beta}.items():
            is_good = is_between(value, 0, 1e6)
            self._require(is_good, name, "a number from 0 to a million")
        self._require(alpha + beta > 0, "alpha", "above 0 if beta is 0")

    def _losses(self, log_p: Tensor, targets: Tensor) -> Tensor:
        p = log_p.exp()
        if targets.is_floating_point():
            log_t = targets.clamp(min=_SMALLEST_TARGET).log()
            reverse = -(p * log_t).sum(dim=1)
        else:
            reverse = math.log(_SMALLEST_TARGET) * (mean_at(p, targets) - 1)
        return self.beta * reverse - self.alpha * mean_at(log_p, targets)

    def extra_repr(self) -> str:
        """Return the parameters, for ``repr``."""
        return f"alpha={self.alpha}, beta={self.beta}"
