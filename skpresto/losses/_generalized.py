"""Generalized cross-entropy."""

import torch
from torch import Tensor

from skpresto.losses._base import RobustLoss, is_between, mean_at


class GCELoss(RobustLoss):
    """Generalized cross-entropy: ``(1 - p[y]**q) / q``.

    Between cross-entropy, its limit for q to 0, and the mean absolute error, q = 1,
    which is robust against symmetric noise but hard to train [1]_.

    Parameters
    ----------
    q : float in (0, 1], default=0.7
        The larger, the less weight samples get whose label has a low probability.
    reduction : {"mean", "sum", "none"}, default="mean"
        What is returned: the mean of the losses, their sum, or one per sample.

    References
    ----------
    .. [1] Z. Zhang, M. R. Sabuncu, "Generalized cross entropy loss for training deep
       neural networks with noisy labels", NeurIPS 2018.

    Examples
    --------
    >>> import torch
    >>> from skpresto.losses import GCELoss
    >>> round(GCELoss(q=0.5)(torch.zeros(1, 4), torch.tensor([2])).item(), 4)
    1.0
    """

    def __init__(self, q: float = 0.7, reduction: str = "mean") -> None:
        super().__init__(reduction)
        self.q = q
        is_good = is_between(q, 0, 1) and q > 0
        self._require(is_good, "q", "a number above 0 and up to 1")

    def _losses(self, log_p: Tensor, targets: Tensor) -> Tensor:
        # expm1 is exact where p is close to 1, and for small q.
        return mean_at(-torch.expm1(self.q * log_p), targets) / self.q

    def extra_repr(self) -> str:
        """Return the parameters, for ``repr``."""
        return f"q={self.q}"
