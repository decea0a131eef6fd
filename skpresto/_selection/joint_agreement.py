"""JoCoR: two networks with one loss, which is low where both agree."""

import torch
from torch import Tensor

from skpresto._selection.small_loss import forget_rate, is_small_loss, n_kept
from skpresto._training.policy import Batch, Selection, SelectionPolicy

#: Smallest logarithm of a probability, so that differences are finite.
_LOWEST_LOG = -1e30


class JointSmallLoss(SelectionPolicy):
    """Train two networks on the samples with a small joint loss.

    The joint loss of a sample is ``(1 - w) * (l1 + l2) + w * (KL(p1, p2) + KL(p2,
    p1))``, with the losses l and the probabilities p of both networks. It selects the
    samples, and it is minimized.

    Parameters
    ----------
    n_samples : int
        Number of training samples.
    noise_rate : float
        Fraction of wrong labels.
    ramp_epochs : int
        Epochs until that fraction is left out.
    co_regularization : float in [0, 1]
        The weight w of disagreement, lambda in the paper.
    device : str or torch.device, default="cpu"
        Where the selection is stored.

    Attributes
    ----------
    is_selected : Tensor of shape (n_samples,), dtype=bool
        Whether the sample was selected at its last visit.
    """

    may_select_nothing = False

    def __init__(
        self,
        n_samples: int,
        noise_rate: float,
        ramp_epochs: int,
        co_regularization: float,
        device: str = "cpu",
    ) -> None:
        self.noise_rate = noise_rate
        self.ramp_epochs = max(1, ramp_epochs)
        self.co_regularization = co_regularization
        self.is_selected = torch.zeros(n_samples, dtype=torch.bool, device=device)

    def select(self, batch: Batch) -> Selection:
        """Return the samples with a small joint loss, the same for both networks."""
        rate = forget_rate(batch.epoch, self.noise_rate, self.ramp_epochs)
        joint = self._joint_losses(batch.logits, batch.losses)
        is_kept = is_small_loss(joint, n_kept(len(batch.index), rate))
        self.is_selected.index_copy_(0, batch.index, is_kept[0])
        return Selection(
            weights=is_kept.to(batch.losses.dtype), objective=self._joint_losses
        )

    def _joint_losses(self, logits: Tensor, losses: Tensor) -> Tensor:
        """Return half of the joint loss for each network, so that both make one."""
        log_p = torch.log_softmax(logits, dim=2).clamp(min=_LOWEST_LOG)
        p = log_p.exp()
        # The sum of both divergences.
        divergence = ((p[0] - p[1]) * (log_p[0] - log_p[1])).sum(dim=1)
        w = self.co_regularization
        joint = (1 - w) * losses.sum(dim=0) + w * divergence
        return (joint / 2).expand(2, -1)
