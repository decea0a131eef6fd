"""Label quality from the mean class probabilities over visits during training."""

import torch
from torch import Tensor

from skpresto._data.batch import Batch
from skpresto._label_quality.posterior import LabelPosterior, count_transitions
from skpresto._label_quality.recorder import Recorder

#: Up to this many values, the means of all classes are stored: 512 MB.
MAX_VALUES = 1 << 27
# Weight of the prior in the transition matrix. Where a network memorizes labels, the
# counted matrix is too close to the identity or, where it predicts poorly, too far from
# it.
_DAMPING = 0.2
# From this many classes on, softmax is fast along the last axis.
_MANY_CLASSES = 16
# Rows, and values, whose softmax is computed together.
_ROWS_AT_ONCE = 1 << 15
_VALUES_AT_ONCE = 1 << 20


class MeanProbabilities(Recorder):
    """Average the predicted class probabilities of each sample over its visits.

    Parameters
    ----------
    labels : Tensor of shape (n_samples,)
        Given labels.
    n_classes : int
        Number of classes.
    max_epochs : int, default=None
        Visits after that many epochs are ignored. None includes all.

    Notes
    -----
    Four bytes per sample and class are used, up to :data:`MAX_VALUES` values. Beyond
    that, only the probability of the given label is stored, eight bytes per sample,
    and the quality is its mean.
    """

    _state = ("_sums", "_n_visits", "max_epochs")

    def __init__(
        self, labels: Tensor, n_classes: int, max_epochs: int | None = None
    ) -> None:
        self.labels = labels
        self.max_epochs = max_epochs
        self.has_all_classes = len(labels) * n_classes <= MAX_VALUES
        n_columns = n_classes if self.has_all_classes else 1
        self._sums = torch.zeros((len(labels), n_columns), device=labels.device)
        self._n_visits = torch.zeros(len(labels), device=labels.device)
        self._waiting: list[tuple[Tensor, Tensor]] = []
        self._n_waiting = 0  # values, not batches
        self._n_at_once = min(_VALUES_AT_ONCE, _ROWS_AT_ONCE * n_classes)

    def record(self, batch: Batch) -> None:
        """Add a visit to each sample, with the mean probability of all networks."""
        if self.max_epochs is not None and batch.epoch >= self.max_epochs:
            return
        # One softmax for many small batches takes much less time than one for each.
        self._waiting.append((batch.index, batch.logits))
        self._n_waiting += batch.logits.numel()
        if self._n_waiting >= self._n_at_once:
            self.end_epoch()

    def clear(self) -> None:
        """Remove all visits; further ones are all included."""
        self._sums.zero_()
        self._n_visits.zero_()
        self._waiting.clear()
        self._n_waiting = 0
        self.max_epochs = None

    def end_epoch(self) -> None:
        """Add the visits that wait."""
        if not self._waiting:
            return
        indices, outputs = zip(*self._waiting, strict=True)
        index, logits = torch.cat(indices), torch.cat(outputs, dim=1)
        self._waiting.clear()
        self._n_waiting = 0
        self.add_probability(index, _mean_softmax(logits))

    def add_probability(self, index: Tensor, probability: Tensor) -> None:
        """Add a visit with probabilities of shape (b, n_classes)."""
        if not self.has_all_classes:
            labels = self.labels.index_select(0, index)
            probability = probability.gather(1, labels.unsqueeze(1))
        probability = probability.to(self._sums.dtype)
        before = self._n_visits.index_select(0, index)
        self._n_visits.index_add_(0, index, torch.ones_like(before))
        if (self._n_visits.index_select(0, index) - before > 1).any():
            self._sums.index_add_(0, index, probability)
        else:  # no sample twice, so rows can be copied, which takes a third of the time
            sums = self._sums.index_select(0, index).add_(probability)
            self._sums.index_copy_(0, index, sums)

    def unseen(self) -> Tensor:
        """Return the positions of samples without a visit."""
        self.end_epoch()
        return (self._n_visits == 0).nonzero().squeeze(1)

    def label_quality(self) -> Tensor:
        """Return the quality of each given label.

        It is the posterior probability that the label is correct or, if only the
        probability of the given label is stored, the mean of that. No visits can be
        added afterwards.
        """
        self.end_epoch()
        # In place, since the sums can be large; divided by one, means stay the same.
        means = self._sums.div_(self._n_visits.clamp(min=1).unsqueeze(1))
        self._n_visits.clamp_(max=1)
        if not self.has_all_classes:
            return means.squeeze(1)
        transitions = count_transitions(
            means, self.labels, confident_only=True, damping=_DAMPING
        )
        return LabelPosterior(means, self.labels, transitions).label_quality()


def _mean_softmax(logits: Tensor) -> Tensor:
    """Return class probabilities averaged over networks, from (k, b, n_classes)."""
    if logits.shape[2] < _MANY_CLASSES:
        # torch.softmax handles few classes at a time, and takes five times as long.
        probability = (logits - logits.amax(dim=2, keepdim=True)).exp_()
        probability.div_(probability.sum(dim=2, keepdim=True))
    else:
        probability = torch.softmax(logits, dim=2)
    return probability[0] if len(logits) == 1 else probability.mean(dim=0)
