"""Generalized Jensen-Shannon divergence of the label and predictions."""

import math

import torch
from torch import Tensor, nn

from skpresto.losses._base import RobustLoss, is_between


class GJSLoss(RobustLoss):
    """Generalized Jensen-Shannon divergence between the label and predictions.

    With the one-hot label y, predicted probabilities p_1 to p_m for m views of a
    sample, and the weights w of the label and (1 - w) / m of each view, the loss is
    ``H(w y + (1 - w) mean(p)) - (1 - w) mean(H(p))`` with the entropy H, divided by
    ``-(1 - w) log(1 - w)`` [1]_. Its limits are cross-entropy for w to 0, and the mean
    absolute error for w to 1. With several views, it falls as their predictions agree.

    Parameters
    ----------
    label_weight : float in (0, 1), default=0.5
        w, the weight of the label, pi_1 in the paper, which tunes it between 0.1 and
        0.9 for each data set and noise.
    reduction : {"mean", "sum", "none"}, default="mean"
        What is returned: the mean of the losses, their sum, or one per sample.

    Notes
    -----
    Logits of several views are passed as a tensor of shape (n_views, n_samples,
    n_classes). As ``criterion`` of a classifier it gets one view, and is the paper's JS
    loss.

    References
    ----------
    .. [1] E. Englesson, H. Azizpour, "Generalized Jensen-Shannon divergence loss for
       learning with noisy labels", NeurIPS 2021.

    Examples
    --------
    >>> import torch
    >>> from skpresto.losses import GJSLoss
    >>> loss, label = GJSLoss(), torch.tensor([0])
    >>> round(loss(torch.zeros(1, 2), label).item(), 4)
    0.6226
    >>> views = torch.tensor([[[4.0, 0.0]], [[0.0, 4.0]]])
    >>> round(loss(views, label).item(), 4)
    1.4926
    """

    def __init__(self, label_weight: float = 0.5, reduction: str = "mean") -> None:
        super().__init__(reduction)
        self.label_weight = label_weight
        is_good = is_between(label_weight, 0, 1) and 0 < label_weight < 1
        self._require(is_good, "label_weight", "a number between 0 and 1")

    def _check_shapes(self, logits: Tensor, targets: Tensor) -> None:
        views = logits if logits.dim() == 3 and len(logits) else logits.unsqueeze(0)
        super()._check_shapes(views[0], targets)

    def _losses(self, log_p: Tensor, targets: Tensor) -> Tensor:
        log_p = log_p.view(-1, *log_p.shape[-2:])
        p, w = log_p.exp(), self.label_weight
        if not targets.is_floating_point():
            targets = nn.functional.one_hot(targets.long(), p.shape[2]).to(p.dtype)
        mean = w * targets + (1 - w) * p.mean(dim=0)
        of_views = -(p * log_p).sum(dim=2).mean(dim=0)
        divergence = _entropy(mean) - w * _entropy(targets) - (1 - w) * of_views
        return divergence / (-(1 - w) * math.log1p(-w))

    def extra_repr(self) -> str:
        """Return the parameters, for ``repr``."""
        return f"label_weight={self.label_weight}"


def _entropy(p: Tensor) -> Tensor:
    # Where p is 0, its logarithm has no gradient.
    return -(p * p.clamp(min=torch.finfo(p.dtype).tiny).log()).sum(dim=-1)
