"""Bootstrapping: targets that contain the prediction."""

from torch import Tensor

from skpresto.losses._base import RobustLoss, is_between, mean_at


class BootstrapLoss(RobustLoss):
    """Cross-entropy with targets mixed from the label and the prediction.

    With predicted probabilities p and label y, the target is
    ``t = beta * onehot(y) + (1 - beta) * p``, and the loss is ``-sum(t * log(p))``
    [1]_. With ``mode="hard"``, p in the target is replaced by the predicted class.

    Parameters
    ----------
    mode : {"soft", "hard"}, default="soft"
        Whether the target contains the predicted probabilities, through which
        gradients flow, or the predicted class.
    beta : float in [0, 1], default=None
        Weight of the given label. None means that of the paper: 0.95 for ``"soft"``,
        0.8 for ``"hard"``.
    reduction : {"mean", "sum", "none"}, default="mean"
        What is returned: the mean of the losses, their sum, or one per sample.

    References
    ----------
    .. [1] S. Reed et al., "Training deep neural networks on noisy labels with
       bootstrapping", ICLR 2015 (workshop).

    Examples
    --------
    >>> import torch
    >>> from skpresto.losses import BootstrapLoss
    >>> logits = torch.tensor([[2.0, 0.0]])
    >>> [round(BootstrapLoss(beta=b)(logits, torch.tensor([1])).item(), 4)
    ...  for b in (1.0, 0.5)]
    [2.1269, 1.2461]
    """

    def __init__(
        self, mode: str = "soft", beta: float | None = None, reduction: str = "mean"
    ) -> None:
        super().__init__(reduction)
        self.mode = mode
        self._require(mode in ("soft", "hard"), "mode", "'soft' or 'hard'")
        self.beta = beta if beta is not None else 0.95 if mode == "soft" else 0.8
        self._require(is_between(self.beta, 0, 1), "beta", "a number from 0 to 1")

    def _losses(self, log_p: Tensor, targets: Tensor) -> Tensor:
        if self.mode == "soft":
            own = (log_p.exp() * log_p).sum(dim=1)
        else:
            own = log_p.amax(dim=1)
        return -(self.beta * mean_at(log_p, targets) + (1 - self.beta) * own)

    def extra_repr(self) -> str:
        """Return the parameters, for ``repr``."""
        return f"mode={self.mode!r}, beta={self.beta}"
