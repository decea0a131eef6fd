"""The last q predictions of every sample, and what they say."""

from collections.abc import Iterator

import torch
from torch import Tensor

# Samples looked at together when all are asked about: a vote compares every pair of
# a sample's entries, which for q = 10 makes 100 bytes a sample.
_SAMPLES_AT_ONCE = 1 << 15


def _smallest_dtype(largest: int) -> torch.dtype:
    if largest <= 255:
        return torch.uint8
    return torch.int16 if largest <= 32767 else torch.int32


class LabelHistory:
    """Remember the classes predicted for each sample at its last ``length`` visits.

    An entry takes one byte up to 256 classes, so a million samples with ``length=10``
    take 11 MB. New predictions are first put aside and entered many batches at once,
    which is much faster than entering each batch by itself; no answer shows it.

    Parameters
    ----------
    n_samples : int
        Number of training samples.
    n_classes : int
        Number of classes.
    length : int
        Number of visits remembered, q in the paper.
    device : str or torch.device, default="cpu"
        Where the entries live.

    Notes
    -----
    The *vote* of a sample is the class predicted most often. A tie goes to the class
    predicted last among those that tie: it does not depend on the order of the
    classes, and it is the network's latest opinion. A sample never visited has no
    vote (-1) and agrees with no label.
    """

    #: Whether a sample may be visited again before ``settle`` is called. If so,
    #: every batch is entered by itself.
    has_repeated_visits = False

    def __init__(
        self,
        n_samples: int,
        n_classes: int,
        length: int,
        device: str | torch.device = "cpu",
    ) -> None:
        self.length = length
        # Entries of one age lie together, newest first: (length, n_samples).
        self._predicted = torch.zeros(
            (length, n_samples), dtype=_smallest_dtype(n_classes - 1), device=device
        )
        self._n_entries = torch.zeros(
            n_samples, dtype=_smallest_dtype(length + 1), device=device
        )
        self._age = torch.arange(
            length, dtype=self._n_entries.dtype, device=device
        ).unsqueeze(1)
        self._put_aside: list[tuple[Tensor, Tensor]] = []
        self._n_put_aside = 0

    @property
    def nbytes(self) -> int:
        """Memory taken by what is remembered."""
        return self._predicted.nbytes + self._n_entries.nbytes

    def record(self, index: Tensor, predicted: Tensor) -> None:
        """Add one prediction for each of the samples at ``index``."""
        if self._n_put_aside >= _SAMPLES_AT_ONCE or self.has_repeated_visits:
            self.settle()
        self._put_aside.append((index, predicted.to(self._predicted.dtype)))
        self._n_put_aside += len(index)

    def settle(self) -> None:
        """Enter what was put aside."""
        if not self._put_aside:
            return
        index = torch.cat([index for index, _ in self._put_aside])
        newest = torch.cat([predicted for _, predicted in self._put_aside])
        entries, counts = self._with_newest(index, newest)
        self._predicted.index_copy_(1, index, entries)
        self._n_entries.index_copy_(0, index, counts)
        self._put_aside.clear()
        self._n_put_aside = 0

    def _with_newest(self, index: Tensor, newest: Tensor) -> tuple[Tensor, Tensor]:
        """Return entries and their number as they are with one prediction more."""
        older = self._predicted.index_select(1, index)[:-1]
        counts = self._n_entries.index_select(0, index) + 1
        return torch.cat((newest.unsqueeze(0), older)), counts.clamp_(max=self.length)

    def vote_of_batch(self) -> Tensor:
        """Return the vote of each sample of the batch recorded last."""
        return self._vote(*self._with_newest(*self._put_aside[-1]))

    def frequencies_of_batch(self) -> Tensor:
        """Return the share of each entry's class, for the batch recorded last.

        Of shape (length, b). A class is counted at its newest entry only, all other
        places are 0, so that each column sums to 1.
        """
        entries, counts = self._with_newest(*self._put_aside[-1])
        same = self._same_class(entries, counts)
        is_older = (self._age > self._age.T).unsqueeze(2)
        is_newest = ~(same & is_older).any(dim=1)
        return same.sum(dim=1) * is_newest / counts

    def is_full_of_batch(self) -> Tensor:
        """Return which samples of the batch recorded last have ``length`` entries."""
        index, _ = self._put_aside[-1]
        return self._n_entries.index_select(0, index) + 1 >= self.length

    def vote(self) -> Tensor:
        """Return the class predicted most often for every sample."""
        return torch.cat([self._vote(*part) for part in self._parts()])

    def agreement(self, labels: Tensor) -> Tensor:
        """Return the share of each sample's predictions that equal its label."""
        self.settle()
        is_entry = self._age < self._n_entries
        equal = (self._predicted == labels).logical_and_(is_entry)
        return equal.sum(dim=0) / self._n_entries.clamp(min=1)

    def newest(self) -> Tensor:
        """Return the last prediction for every sample (0 where there is none)."""
        self.settle()
        return self._predicted[0]

    def is_visited(self) -> Tensor:
        """Return which samples have been visited."""
        self.settle()
        return self._n_entries > 0

    def state(self) -> tuple[Tensor, Tensor]:
        """Return a copy of everything remembered, for :meth:`restore`."""
        self.settle()
        return self._predicted.clone(), self._n_entries.clone()

    def restore(self, state: tuple[Tensor, Tensor]) -> None:
        """Go back to what was remembered when ``state`` was taken."""
        self.clear()
        self._predicted.copy_(state[0])
        self._n_entries.copy_(state[1])

    def clear(self) -> None:
        """Forget everything."""
        self._put_aside.clear()
        self._n_put_aside = 0
        self._predicted.zero_()
        self._n_entries.zero_()

    def _parts(self) -> Iterator[tuple[Tensor, Tensor]]:
        self.settle()
        yield from zip(
            self._predicted.split(_SAMPLES_AT_ONCE, dim=1),
            self._n_entries.split(_SAMPLES_AT_ONCE),
            strict=True,
        )

    def _same_class(self, entries: Tensor, counts: Tensor) -> Tensor:
        """Return whether entries i and j of a sample have the same class: (i, j, b)."""
        same = entries.unsqueeze(0) == entries.unsqueeze(1)
        is_entry = self._age < counts
        return same.logical_and_(is_entry).logical_and_(is_entry.unsqueeze(1))

    def _vote(self, entries: Tensor, counts: Tensor) -> Tensor:
        same = self._same_class(entries, counts)
        votes = same.view(torch.uint8).sum(dim=1, dtype=self._n_entries.dtype)
        # argmax returns the first of several maxima, which is the newest.
        winner = votes.argmax(dim=0, keepdim=True)
        voted = entries.gather(0, winner).squeeze(0).long()
        return voted.masked_fill_(counts == 0, -1)
