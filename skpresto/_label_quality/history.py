"""The last q predictions of every sample, and the majority vote over them."""

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor

from skpresto._label_quality.visits import Visits
from skpresto._label_quality.votes import (
    by_age,
    count_true,
    most_frequent,
    same_class,
    smallest_dtype,
)

# Samples processed together when all are requested.
_SAMPLES_AT_ONCE = 1 << 14
# Up to this many classes, agreement is looked up in a table prepared in advance.
_CLASSES_IN_TABLE = 32


class PredictionHistory:
    """Store the classes predicted for each sample at its last ``length`` visits.

    An entry takes one byte up to 256 classes, so a million samples with ``length=10``
    take 11 MB.

    Parameters
    ----------
    n_samples : int
        Number of training samples.
    n_classes : int
        Number of classes.
    length : int
        Number of visits stored, q in the paper.
    device : str or torch.device, default="cpu"
        Where the entries are stored.

    Notes
    -----
    The *vote* of a sample is the class predicted most often. Ties go to the class
    predicted last among those tied, which does not depend on the order of the classes.
    A sample that was never visited has no vote (-1) and agrees with no label.

    Batches that will be recorded can be announced with :meth:`expect`. Their entries
    are then read, and later written, for many batches at once, which is much faster
    than batch by batch. Results are the same.
    """

    def __init__(
        self,
        n_samples: int,
        n_classes: int,
        length: int,
        device: str | torch.device = "cpu",
    ) -> None:
        self.n_classes = n_classes
        self.length = length
        # The entries of a sample lie together, newest first.
        self._predicted = torch.zeros(
            (n_samples, length), dtype=smallest_dtype(n_classes - 1), device=device
        )
        self._n_entries = torch.zeros(
            n_samples, dtype=smallest_dtype(length + 1), device=device
        )
        self._visits: Visits | None = None

    @property
    def nbytes(self) -> int:
        """Memory taken by the entries."""
        return self._predicted.nbytes + self._n_entries.nbytes

    def expect(
        self, batches: Sequence[Tensor], labels: Sequence[Tensor] | None = None
    ) -> None:
        """Prepare for batches that will be recorded in this order.

        Parameters
        ----------
        batches : sequence of Tensor
            The samples of each batch. No sample may occur twice.
        labels : sequence of Tensor, default=None
            Their labels, if :meth:`agrees_of_batch` will be called with these.
        """
        self.flush()
        index = torch.cat(list(batches))
        self._visits = Visits(
            batches,
            labels,
            index,
            self._predicted.index_select(0, index),
            self._n_entries.index_select(0, index),
            self.n_classes,
        )

    def record(self, index: Tensor, predicted: Tensor) -> None:
        """Add one prediction for each of the samples at ``index``, all distinct.

        Parameters
        ----------
        index : Tensor of shape (b,)
            The samples.
        predicted : Tensor of shape (b,) or (1, b)
            Their predicted classes.
        """
        if self._visits is None or not self._visits.comes_next(index):
            self.expect([index])
        self._current.add(predicted)

    @property
    def _current(self) -> Visits:
        assert self._visits is not None
        return self._visits

    def flush(self) -> None:
        """Write the predictions recorded since the last call of :meth:`expect`."""
        visits, self._visits = self._visits, None
        if visits is None or not visits.n_made:
            return
        index = visits.index[: visits.n_made]
        newest = torch.cat(visits.predicted, dim=-1).to(self._predicted.dtype)
        older = visits.rows[: visits.n_made, :-1]
        counts = (visits.counts[: visits.n_made] + 1).clamp_(max=self.length)
        self._predicted.index_copy_(
            0, index, torch.cat((newest.view(-1, 1), older), dim=1)
        )
        self._n_entries.index_copy_(0, index, counts)

    def discard(self) -> None:
        """Forget the predictions recorded since the last call of :meth:`expect`."""
        self._visits = None

    def vote_of_batch(self) -> Tensor:
        """Return the vote of each sample of the batch recorded last."""
        visits = self._current
        newest = visits.predicted[-1].view(-1)
        if self.length == 1:
            return newest
        older = visits.of_batch(visits.older)
        same = older == newest.to(older.dtype)
        # The newest prediction adds a vote to its class, and wins a tie.
        voted, votes = map(visits.of_batch, visits.older_vote)
        wins = count_true(same, dim=0, dtype=votes.dtype) + 1 >= votes
        return torch.where(wins, newest, voted.long())

    def agrees_of_batch(self, labels: Tensor) -> Tensor:
        """Return where the vote equals the label, for the batch recorded last.

        Parameters
        ----------
        labels : Tensor of shape (b,)
            A label for each sample of the batch.

        Returns
        -------
        agrees : Tensor of shape (1, b), dtype=float32
            1 where it does, 0 elsewhere: weights for one network.
        """
        visits = self._current
        is_in_table = self.length > 1 and self.n_classes <= _CLASSES_IN_TABLE
        if is_in_table and visits.expects_labels(labels):
            table = visits.agreement_tables[visits.n_batches - 1]
            newest = visits.predicted[-1]
            # In training there are two axes, so that no batch waits for a view.
            return table.gather(0, newest if newest.dim() == 2 else newest.view(1, -1))
        return (self.vote_of_batch() == labels).to(torch.float32).unsqueeze(0)

    def frequencies_of_batch(self) -> Tensor:
        """Return the frequency of each entry's class, for the batch recorded last.

        Of shape (length, b). A class is counted at its newest entry only, all other
        places are 0, so that each column sums to 1.
        """
        visits = self._current
        older = visits.of_batch(visits.older)
        newest = visits.predicted[-1].to(older.dtype).view(1, -1)
        entries = torch.cat((newest, older))
        same = same_class(entries)
        age = torch.arange(self.length, device=entries.device).unsqueeze(1)
        is_older = (age > age.T).unsqueeze(2)
        is_counted = ~(same & is_older).any(dim=1) & (entries < self.n_classes)
        n_entries = (visits.of_batch(visits.counts) + 1).clamp_(max=self.length)
        return same.sum(dim=1) * is_counted / n_entries

    def is_full_of_batch(self) -> Tensor:
        """Return which samples of the batch recorded last have ``length`` entries."""
        visits = self._current
        return visits.of_batch(visits.counts) + 1 >= self.length

    def agrees(self, labels: Tensor) -> Tensor:
        """Return where the vote equals the label, for every sample."""
        return self.vote() == labels

    def vote(self) -> Tensor:
        """Return the class predicted most often for every sample."""
        votes = torch.empty_like(self._n_entries, dtype=torch.int64)
        for some in self._slices():
            rows, counts = self._predicted[some], self._n_entries[some]
            voted, _ = most_frequent(by_age(rows, counts, self.n_classes))
            votes[some] = voted.long().masked_fill_(counts == 0, -1)
        return votes

    def agreement(self, labels: Tensor) -> Tensor:
        """Return the fraction of each sample's predictions that equal its label."""
        fractions = torch.empty_like(self._n_entries, dtype=torch.float32)
        age = torch.arange(self.length, device=labels.device)
        for some in self._slices():
            counts = self._n_entries[some].unsqueeze(1)
            equal = self._predicted[some] == labels[some].unsqueeze(1)
            n_equal = equal.logical_and_(age < counts).sum(dim=1, keepdim=True)
            fractions[some] = (n_equal / counts.clamp(min=1)).squeeze(1)
        return fractions

    def _slices(self) -> Iterator[slice]:
        """Yield all samples in parts, so that intermediate results stay small."""
        self.flush()
        for start in range(0, len(self._n_entries), _SAMPLES_AT_ONCE):
            yield slice(start, start + _SAMPLES_AT_ONCE)

    def newest(self) -> Tensor:
        """Return the last prediction for every sample (0 where there is none)."""
        self.flush()
        return self._predicted[:, 0]

    def is_visited(self) -> Tensor:
        """Return which samples have been visited."""
        self.flush()
        return self._n_entries > 0

    def state(self) -> tuple[Tensor, Tensor]:
        """Return a copy of all entries, for :meth:`restore`."""
        self.flush()
        return self._predicted.clone(), self._n_entries.clone()

    def restore(self, state: tuple[Tensor, Tensor]) -> None:
        """Go back to the entries of ``state``."""
        self._visits = None
        self._predicted.copy_(state[0])
        self._n_entries.copy_(state[1])

    def clear(self) -> None:
        """Remove all entries."""
        self._visits = None
        self._predicted.zero_()
        self._n_entries.zero_()
