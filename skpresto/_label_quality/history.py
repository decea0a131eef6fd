"""The last q predictions of every sample, and the majority vote over them."""

from collections import deque
from collections.abc import Sequence

import torch
from torch import Tensor

from skpresto._data.batch import Batch
from skpresto._label_quality.recorder import Recorder
from skpresto._label_quality.votes import (
    Visits,
    by_age,
    most_frequent,
    smallest_dtype,
)
from skpresto._labels import parts

# Samples processed together when all are requested.
_SAMPLES_AT_ONCE = 1 << 14
# Samples that will be visited next whose entries are read, and later written, together.
_READ_AHEAD = 1 << 13


class PredictionHistory(Recorder):
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
    A sample that was never visited has no vote (-1), and no label of it is safe.

    Where the order of an epoch is known (:meth:`expect`), entries are read and written
    for many batches at once, which is much faster than batch by batch. Results are the
    same.
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
        self._order: deque[Tensor] = deque()
        self._visits: Visits | None = None

    @property
    def nbytes(self) -> int:
        """Memory taken by the entries."""
        return self._predicted.nbytes + self._n_entries.nbytes

    def expect(self, order: Sequence[Tensor] | None) -> None:
        """Prepare for the batches of an epoch.

        Parameters
        ----------
        order : sequence of Tensor, or None
            The samples of each batch, in the order in which they will be recorded. No
            sample may occur twice. None if that is not known.
        """
        self.flush()
        self._order = deque(order or ())

    def record(self, batch: Batch) -> None:
        """Add what the networks predict together for the samples of a batch."""
        self._next_visits(batch.index).add_logits(batch.logits)

    def add(self, index: Tensor, predicted: Tensor) -> None:
        """Add one prediction for each of the samples at ``index``, all distinct.

        Parameters
        ----------
        index : Tensor of shape (b,)
            The samples; those that come next if an order was given.
        predicted : Tensor of shape (b,) or (1, b)
            Their predicted classes.
        """
        self._next_visits(index).add(predicted)

    def _next_visits(self, index: Tensor) -> Visits:
        """Return the visits that include those of the samples at ``index``."""
        visits = self._visits
        if visits is not None and visits.n_made < len(visits.index):
            return visits
        self.flush()
        batches = [self._order.popleft() if self._order else index]
        n_samples = len(batches[0])
        while self._order and n_samples + len(self._order[0]) <= _READ_AHEAD:
            batches.append(self._order.popleft())
            n_samples += len(batches[-1])
        ahead = batches[0] if len(batches) == 1 else torch.cat(batches)
        self._visits = Visits(
            ahead,
            self._predicted.index_select(0, ahead),
            self._n_entries.index_select(0, ahead),
            self.n_classes,
        )
        return self._visits

    def flush(self) -> None:
        """Write the predictions that were recorded."""
        visits, self._visits = self._visits, None
        if visits is None:
            return
        if visits.n_made < len(visits.index):
            self._order.appendleft(visits.index[visits.n_made :])
        if not visits.n_made:
            return
        index = visits.index[: visits.n_made]
        visits.predict()
        newest = torch.cat(visits.predicted).to(self._predicted.dtype)
        older = visits.rows[: visits.n_made, :-1]
        counts = (visits.counts[: visits.n_made] + 1).clamp_(max=self.length)
        self._predicted.index_copy_(
            0, index, torch.cat((newest.view(-1, 1), older), dim=1)
        )
        self._n_entries.index_copy_(0, index, counts)

    end_epoch = flush

    def discard(self) -> None:
        """Forget the order, and predictions that have not been written."""
        self._visits = None
        self._order.clear()

    def vote_of_batch(self) -> Tensor:
        """Return the vote of each sample of the batch recorded last."""
        visits = self._visits
        assert visits is not None
        newest = visits.newest()
        if self.length == 1:
            return newest
        older = visits.of_batch(visits.older)
        same = older == newest.to(older.dtype)
        # The newest prediction adds a vote to its class, and wins a tie.
        voted, votes = map(visits.of_batch, visits.older_vote)
        n_same = same.view(torch.uint8).sum(dim=0, dtype=votes.dtype)
        wins = n_same + 1 >= votes
        return torch.where(wins, newest, voted.long())

    def frequencies_of_batch(self) -> Tensor:
        """Return the frequency of each entry's class, for the batch recorded last.

        Of shape (length, b). A class is counted at its newest entry only, all other
        places are 0, so that each column sums to 1.
        """
        visits = self._visits
        assert visits is not None
        older = visits.of_batch(visits.older)
        newest = visits.newest().to(older.dtype).view(1, -1)
        entries = torch.cat((newest, older))
        same = entries.unsqueeze(0) == entries.unsqueeze(1)
        age = torch.arange(self.length, device=entries.device).unsqueeze(1)
        is_older = (age > age.T).unsqueeze(2)
        is_counted = ~(same & is_older).any(dim=1) & (entries < self.n_classes)
        n_entries = (visits.of_batch(visits.counts) + 1).clamp_(max=self.length)
        return same.sum(dim=1) * is_counted / n_entries

    def is_full_of_batch(self) -> Tensor:
        """Return which samples of the batch recorded last have ``length`` entries."""
        visits = self._visits
        assert visits is not None
        return visits.of_batch(visits.counts) + 1 >= self.length

    def is_safe(self, labels: Tensor) -> Tensor:
        """Return where the vote equals the label, for every sample."""
        return self.vote() == labels

    def vote(self) -> Tensor:
        """Return the class predicted most often for every sample."""
        self.flush()
        votes = torch.empty_like(self._n_entries, dtype=torch.int64)
        for some in parts(len(votes), _SAMPLES_AT_ONCE):
            rows, counts = self._predicted[some], self._n_entries[some]
            voted, _ = most_frequent(by_age(rows, counts, self.n_classes))
            votes[some] = voted.long().masked_fill_(counts == 0, -1)
        return votes

    def agreement(self, labels: Tensor) -> Tensor:
        """Return the fraction of each sample's predictions that equal its label."""
        self.flush()
        fractions = torch.empty_like(self._n_entries, dtype=torch.float32)
        age = torch.arange(self.length, device=labels.device)
        for some in parts(len(fractions), _SAMPLES_AT_ONCE):
            counts = self._n_entries[some].unsqueeze(1)
            equal = self._predicted[some] == labels[some].unsqueeze(1)
            n_equal = equal.logical_and_(age < counts).sum(dim=1, keepdim=True)
            fractions[some] = (n_equal / counts.clamp(min=1)).squeeze(1)
        return fractions

    def newest(self) -> Tensor:
        """Return the last prediction for every sample (0 where there is none)."""
        self.flush()
        return self._predicted[:, 0]

    def is_visited(self) -> Tensor:
        """Return which samples have been visited."""
        self.flush()
        return self._n_entries > 0

    def state_dict(self) -> dict[str, Tensor]:
        """Return a copy of all entries."""
        self.flush()
        return {
            "predicted": self._predicted.clone(),
            "n_entries": self._n_entries.clone(),
        }

    def load_state_dict(self, state: dict[str, Tensor]) -> None:
        """Go back to the entries of ``state``."""
        self.discard()
        self._predicted.copy_(state["predicted"])
        self._n_entries.copy_(state["n_entries"])

    def clear(self) -> None:
        """Remove all entries."""
        self.discard()
        self._predicted.zero_()
        self._n_entries.zero_()
