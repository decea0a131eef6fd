"""Decouple: update two networks only where they disagree."""

from torch import Tensor

from skpresto._training.policy import Batch, RunningFraction, Selection, SelectionPolicy

#: The loss is divided by at least this fraction of the batch.
_SMALLEST_FRACTION = 0.1


class UpdateOnDisagreement(SelectionPolicy):
    """Train both networks on the samples for which they predict different classes.

    The sum of their losses is divided by their number, or by a tenth of the batch if
    that is more: with few samples, steps become smaller.

    Parameters
    ----------
    warm_up : int
        Number of epochs in which all samples are learned.
    """

    def __init__(self, warm_up: int) -> None:
        self.warm_up = warm_up
        self._disagreed = RunningFraction()

    def select(self, batch: Batch) -> Selection:
        """Return the samples on which the networks disagree."""
        predicted = batch.logits.argmax(dim=2)
        disagree = predicted[0] != predicted[1]
        self._disagreed.add(disagree)
        if batch.epoch < self.warm_up:
            return Selection()
        # The step divides by the number of samples.
        n_samples, n_disagree = len(disagree), disagree.sum()
        scale = (n_disagree / (_SMALLEST_FRACTION * n_samples)).clamp(max=1)

        def objective(logits: Tensor, losses: Tensor) -> Tensor:
            return losses * scale.to(losses.dtype)

        weights = disagree.to(batch.losses.dtype).expand(2, -1)
        return Selection(weights=weights, objective=objective)

    def epoch_summary(self) -> dict[str, float]:
        """Return the fraction of samples on which the networks disagreed."""
        return {"disagreement_fraction": self._disagreed.take()}
