"""ELR: a regularizer that holds predictions close to those of early learning."""

import torch
from torch import Tensor

from skpresto._training.policy import Batch, Selection, SelectionPolicy

#: Smallest and largest probability that enters the targets.
_LOW, _HIGH = 1e-4, 1 - 1e-4


class EarlyLearningRegularization(SelectionPolicy):
    """Add a term to the loss that is low where predictions equal their running mean.

    At each visit, the target t of a sample moves towards its predicted probabilities,
    ``t = beta * t + (1 - beta) * p``, and ``regularization * log(1 - <t, p>)`` is added
    to its loss. Its gradient increases with the agreement of prediction and target:
    it counteracts that of a wrong label that is not memorized yet.

    Parameters
    ----------
    n_samples, n_classes : int
        Size of the training set.
    regularization : float
        Weight of the term, lambda in the paper.
    beta : float in [0, 1)
        Weight of earlier predictions in the target.
    device : str or torch.device, default="cpu"
        Where the targets are stored.

    Attributes
    ----------
    targets : Tensor of shape (n_samples, n_classes)
        Running mean of the probabilities; zero before the first visit.
    """

    may_select_nothing = False

    def __init__(
        self,
        n_samples: int,
        n_classes: int,
        regularization: float,
        beta: float,
        device: str = "cpu",
    ) -> None:
        self.regularization = regularization
        self.beta = beta
        self.targets = torch.zeros((n_samples, n_classes), device=device)

    def select(self, batch: Batch) -> Selection:
        """Return all samples, with the regularized loss."""
        p = torch.softmax(batch.logits[0].float(), dim=1).clamp_(_LOW, _HIGH)
        p /= p.sum(dim=1, keepdim=True)
        before = self.targets.index_select(0, batch.index)
        target = self.beta * before + (1 - self.beta) * p
        self.targets.index_copy_(0, batch.index, target)

        def objective(logits: Tensor, losses: Tensor) -> Tensor:
            p = torch.softmax(logits.float(), dim=2)
            agreement = (target * p).sum(dim=2)
            # Targets are below 1, so that the logarithm is finite.
            return losses + self.regularization * torch.log1p(-agreement)

        return Selection(objective=objective)
