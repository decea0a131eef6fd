"""Prestopping's safe set: samples whose given label is the majority prediction."""

from skpresto._label_quality.history import PredictionHistory
from skpresto._training.policy import Batch, Selection, SelectionPolicy


class LearnFromSafeSet(SelectionPolicy):
    """Learn from samples whose given label is the majority vote of the last q visits.

    The predictions of a batch are recorded before the policy is called, so a sample
    can enter or leave the safe set at any visit.
    """

    def __init__(self, history: PredictionHistory) -> None:
        self.history = history

    def select(self, batch: Batch) -> Selection:
        """Return the safe samples of the batch, the same for all networks."""
        weights = self.history.agrees_of_batch(batch.labels)
        n_networks = batch.logits.shape[0]
        if n_networks > 1:
            weights = weights.expand(n_networks, -1)
        return Selection(weights=weights)
