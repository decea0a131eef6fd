"""Announced visits to samples, prepared for many batches at once."""

from collections.abc import Sequence
from functools import cached_property

import torch
from torch import Tensor

from skpresto._label_quality.votes import by_age, most_frequent, votes_after


class Visits:
    """Announced batches, and the predictions recorded for those already visited.

    Parameters
    ----------
    batches : sequence of Tensor
        The samples of each batch.
    labels : sequence of Tensor, or None
        Their labels.
    index : Tensor of shape (n_expected,)
        The samples of all batches.
    rows : Tensor of shape (n_expected, length)
        Their entries before the visit.
    counts : Tensor of shape (n_expected,)
        Number of entries of each sample.
    n_classes : int
        Number of classes.
    """

    def __init__(
        self,
        batches: Sequence[Tensor],
        labels: Sequence[Tensor] | None,
        index: Tensor,
        rows: Tensor,
        counts: Tensor,
        n_classes: int,
    ) -> None:
        self.batches = batches
        self.labels = labels
        self.index = index
        self.rows = rows
        self.counts = counts
        self.n_classes = n_classes
        self.predicted: list[Tensor] = []
        self.n_batches = self.n_made = self.n_last = 0

    def comes_next(self, index: Tensor) -> bool:
        """Return whether ``index`` is the batch expected next."""
        n_batches = self.n_batches
        return n_batches < len(self.batches) and index is self.batches[n_batches]

    def expects_labels(self, labels: Tensor) -> bool:
        """Return whether ``labels`` are those announced for the batch visited last."""
        return self.labels is not None and labels is self.labels[self.n_batches - 1]

    def add(self, predicted: Tensor) -> None:
        """Add the predictions of the batch that comes next."""
        self.predicted.append(predicted)
        self.n_last = predicted.shape[-1]
        self.n_made += self.n_last
        self.n_batches += 1

    def of_batch(self, values: Tensor) -> Tensor:
        """Return the part of ``values`` that belongs to the batch visited last."""
        return values.narrow(-1, self.n_made - self.n_last, self.n_last)

    @cached_property
    def older(self) -> Tensor:
        """Entries that one more leaves in place, of shape (length - 1, n_expected)."""
        return by_age(self.rows[:, :-1], self.counts, self.n_classes)

    @cached_property
    def older_vote(self) -> tuple[Tensor, Tensor]:
        """The class most frequent among these, and its votes."""
        return most_frequent(self.older)

    @cached_property
    def agreement_tables(self) -> tuple[Tensor, ...]:
        """Whether vote and label agree if class i is predicted next, per batch.

        Of shape (n_classes, b). A lookup replaces many small operations, which would
        take a good part of the time of a batch of a small network.
        """
        assert self.labels is not None
        votes = votes_after(self.older, *self.older_vote, self.n_classes)
        agrees = votes == torch.cat(list(self.labels)).to(votes.dtype)
        sizes = [len(batch) for batch in self.batches]
        return agrees.to(torch.float32).split(sizes, dim=1)
