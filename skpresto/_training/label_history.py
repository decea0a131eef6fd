"""The last q predictions of every sample, and what they say."""

from collections.abc import Iterator

import torch
from torch import Tensor

# Rows looked at together in a query over the whole training set: a vote compares every
# pair of entries of a row, which for q = 10 makes 100 bytes a row.
_ROWS_AT_ONCE = 1 << 15


def _smallest_dtype(largest: int) -> torch.dtype:
    if largest <= 255:
        return torch.uint8
    return torch.int16 if largest <= 32767 else torch.int32


class LabelHistory:
    """Remember the classes predicted for each sample at its last ``length`` visits.

    The entries of a sample are kept newest first, in one byte each up to 256 classes,
    so a million samples with ``length=10`` take 11 MB.

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

    def __init__(
        self,
        n_samples: int,
        n_classes: int,
        length: int,
        device: str | torch.device = "cpu",
    ) -> None:
        self.length = length
        self._predicted = torch.zeros(
            (n_samples, length), dtype=_smallest_dtype(n_classes - 1), device=device
        )
        self._n_recorded = torch.zeros(
            n_samples, dtype=_smallest_dtype(length + 1), device=device
        )
        self._age = torch.arange(length, dtype=self._n_recorded.dtype, device=device)

    @property
    def nbytes(self) -> int:
        """Memory taken by what is remembered."""
        return self._predicted.nbytes + self._n_recorded.nbytes

    def record(self, index: Tensor, predicted: Tensor) -> None:
        """Add one prediction for each of the samples at ``index``."""
        newest = predicted.to(self._predicted.dtype).unsqueeze(1)
        older = self._predicted.index_select(0, index)[:, :-1]
        self._predicted.index_copy_(0, index, torch.cat((newest, older), dim=1))
        counts = self._n_recorded.index_select(0, index)
        self._n_recorded.index_copy_(0, index, (counts + 1).clamp_(max=self.length))

    def newest(self) -> Tensor:
        """Return the last prediction for every sample (0 where there is none)."""
        return self._predicted[:, 0]

    def is_visited(self) -> Tensor:
        """Return which samples have been visited."""
        return self._n_recorded > 0

    def vote(self, index: Tensor | None = None) -> Tensor:
        """Return the class predicted most often, for the samples at ``index`` or all."""
        return torch.cat([self._vote(*rows)[0] for rows in self._rows(index)])

    def frequencies(self, index: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Return for each entry how often its class occurs, and which entries count.

        The share of an entry's class among the entries of its sample, of shape
        (n, length), newest first, and a mask of the *first* (newest) entry of each
        class in its sample: summing over the mask counts every class once.
        """
        parts = [self._frequencies(*rows) for rows in self._rows(index)]
        return (
            torch.cat([share for share, _ in parts]),
            torch.cat([first for _, first in parts]),
        )

    def agreement(self, labels: Tensor, index: Tensor | None = None) -> Tensor:
        """Return the share of each sample's predictions that equal its label.

        ``labels`` holds one label for each sample asked about; the share of a sample
        never visited is 0.
        """
        predicted, counts = self._all_rows(index)
        filled = self._age < counts.unsqueeze(1)
        equal = (predicted == labels.unsqueeze(1)) & filled
        return equal.sum(1) / counts.clamp(min=1)

    def state(self) -> tuple[Tensor, Tensor]:
        """Return a copy of everything remembered, for :meth:`restore`."""
        return self._predicted.clone(), self._n_recorded.clone()

    def restore(self, state: tuple[Tensor, Tensor]) -> None:
        """Go back to what was remembered when ``state`` was taken."""
        self._predicted.copy_(state[0])
        self._n_recorded.copy_(state[1])

    def clear(self) -> None:
        """Forget everything."""
        self._predicted.zero_()
        self._n_recorded.zero_()

    def _all_rows(self, index: Tensor | None) -> tuple[Tensor, Tensor]:
        if index is None:
            return self._predicted, self._n_recorded
        return (
            self._predicted.index_select(0, index),
            self._n_recorded.index_select(0, index),
        )

    def _rows(self, index: Tensor | None) -> Iterator[tuple[Tensor, Tensor]]:
        if index is None:
            yield from zip(
                self._predicted.split(_ROWS_AT_ONCE),
                self._n_recorded.split(_ROWS_AT_ONCE),
                strict=True,
            )
            return
        for part in index.split(_ROWS_AT_ONCE):
            yield self._all_rows(part)

    def _same(self, predicted: Tensor, filled: Tensor) -> Tensor:
        """Return which filled entry (last axis) has the class of which entry."""
        same = predicted.unsqueeze(2) == predicted.unsqueeze(1)
        return same.logical_and_(filled.unsqueeze(1))

    def _vote(self, predicted: Tensor, counts: Tensor) -> tuple[Tensor, Tensor]:
        filled = self._age < counts.unsqueeze(1)
        votes = self._same(predicted, filled).sum(2, dtype=torch.int32)
        votes.mul_(filled)
        # argmax returns the first of several maxima, which is the newest.
        winner = votes.argmax(1, keepdim=True)
        voted = predicted.gather(1, winner).squeeze(1).long()
        return voted.masked_fill_(counts == 0, -1), votes

    def _frequencies(self, predicted: Tensor, counts: Tensor) -> tuple[Tensor, Tensor]:
        filled = self._age < counts.unsqueeze(1)
        same = self._same(predicted, filled)
        share = same.sum(2) / counts.clamp(min=1).unsqueeze(1)
        is_first = ~same.tril(diagonal=-1).any(2) & filled
        return share, is_first
