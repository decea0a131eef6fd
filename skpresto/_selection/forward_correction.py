"""Forward correction: learn from all labels, with the noise built into the loss."""

from torch import Tensor

from skpresto._training.policy import Batch, Selection, SelectionPolicy
from skpresto.losses import ForwardCorrectionLoss


class LearnForwardCorrected(SelectionPolicy):
    """Learn every given label as one that noise has produced from the true class.

    Parameters
    ----------
    loss : ForwardCorrectionLoss
        Knows the transition matrix; it takes the place of the criterion.
    """

    may_select_nothing = False

    def __init__(self, loss: ForwardCorrectionLoss) -> None:
        self.loss = loss

    def select(self, batch: Batch) -> Selection:
        """Return all samples, with the corrected loss."""
        labels = batch.labels.expand(batch.losses.shape).flatten()

        def objective(logits: Tensor, losses: Tensor) -> Tensor:
            return self.loss(logits.flatten(0, 1), labels).view(losses.shape)

        return Selection(objective=objective)
