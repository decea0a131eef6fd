"""Majority votes over stored predictions, for many samples at once."""

from dataclasses import dataclass, field
from functools import cached_property, lru_cache

import torch
from torch import Tensor

# A vote compares every pair of entries of a sample, q² bytes per sample. This many
# bytes are made at once; more would not fit the processor's cache.
_BYTES_AT_ONCE = 1 << 22
_SAMPLES_AT_ONCE = 1 << 13
# Logits whose predictions are computed together: 1 MB.
_LOGITS_AT_ONCE = 1 << 18


def smallest_dtype(largest: int) -> torch.dtype:
    """Return the smallest integer type that holds 0 to ``largest``."""
    if largest <= 255:
        return torch.uint8
    return torch.int16 if largest <= 32767 else torch.int32


def by_age(rows: Tensor, counts: Tensor, n_classes: int) -> Tensor:
    """Return entries with one row per age, with empty places filled.

    Each empty place gets a class number of its own, beyond the existing classes. Empty
    places are always older than entries, so they lose every vote against an entry, and
    no count has to know where the entries end.

    Parameters
    ----------
    rows : Tensor of shape (n_samples, length)
        Predicted classes, newest first.
    counts : Tensor of shape (n_samples,)
        How many of them there are.
    n_classes : int
        Number of classes that exist.

    Returns
    -------
    entries : Tensor of shape (length, n_samples)
        Newest first.
    """
    n_samples, length = rows.shape
    dtype = smallest_dtype(n_classes + length)
    entries = rows.t().to(dtype).contiguous()
    if n_samples and counts.amin() >= length:
        return entries
    age = numbered_rows(length, n_samples, dtype, rows.device)
    is_empty = age >= counts
    return torch.maximum(entries, is_empty * (age + n_classes))


def most_frequent(entries: Tensor) -> tuple[Tensor, Tensor]:
    """Return the class entered most often for each sample, and how often that is.

    Of several such classes it is the one entered last.

    Examples
    --------
    Two samples with four entries each, newest first:

    >>> import torch
    >>> entries = torch.tensor([[1, 0], [2, 3], [2, 3], [1, 3]])
    >>> classes, votes = most_frequent(entries)
    >>> classes.tolist(), votes.tolist()
    ([1, 3], [2, 3])
    """
    length = len(entries)
    at_once = min(_SAMPLES_AT_ONCE, max(1, _BYTES_AT_ONCE // length**2))
    dtype = smallest_dtype(length * (length + 1))
    parts = []
    for part in entries.split(at_once, dim=1):
        age = numbered_rows(length, part.shape[1], dtype, part.device)
        # No two entries score the same: more votes win, then the newer entry.
        same = part.unsqueeze(0) == part.unsqueeze(1)
        # Sums of bytes are faster than those of booleans.
        votes = same.view(torch.uint8).sum(dim=1, dtype=dtype)
        scores = votes.mul_(length).sub_(age)
        best = scores.amax(dim=0)
        winner = ((scores == best) * part).sum(dim=0, dtype=part.dtype)
        parts.append(
            (winner, best.add_(length - 1).div_(length, rounding_mode="floor"))
        )
    if len(parts) == 1:
        return parts[0]
    winners, most_votes = zip(*parts, strict=True)
    return torch.cat(winners), torch.cat(most_votes)


@lru_cache(maxsize=16)
def numbered_rows(
    n_rows: int, n_columns: int, dtype: torch.dtype, device: torch.device
) -> Tensor:
    """Return a matrix whose row i is full of i; it is shared, so not to be changed.

    Operations on bytes are many times faster on full rows than on broadcast numbers.
    """
    numbers = torch.arange(n_rows, device=device).to(dtype)
    return numbers.unsqueeze(1).repeat(1, n_columns)


@dataclass
class Visits:
    """Entries of samples that are visited next, and predictions made for them so far.

    Parameters
    ----------
    index : Tensor of shape (n_expected,)
        The samples of some batches.
    rows : Tensor of shape (n_expected, length)
        Their entries before the visit.
    counts : Tensor of shape (n_expected,)
        Number of entries of each sample.
    n_classes : int
        Number of classes.
    predicted : list of Tensor, default=[]
        Predictions so far, of one or several batches each.
    waiting : list of Tensor, default=[]
        Logits of the batches after those, whose predictions are not needed yet.
    n_waiting : int, default=0
        Number of these logits.
    n_made, n_last : int, default=0
        Number of predictions, of all batches and of the last one.
    """

    index: Tensor
    rows: Tensor
    counts: Tensor
    n_classes: int
    predicted: list[Tensor] = field(default_factory=list)
    waiting: list[Tensor] = field(default_factory=list)
    n_waiting: int = 0
    n_made: int = 0
    n_last: int = 0

    def add(self, predicted: Tensor) -> None:
        """Add the predictions of the batch that comes next."""
        self.predict()
        self.predicted.append(predicted.view(-1))
        self.n_last = len(self.predicted[-1])
        self.n_made += self.n_last

    def add_logits(self, logits: Tensor) -> None:
        """Add what networks return for the batch that comes next: (k, b, n_classes).

        The predictions are computed for many batches at once, unless logits are large.
        """
        self.waiting.append(logits)
        self.n_waiting += logits.numel()
        self.n_last = logits.shape[1]
        self.n_made += self.n_last
        if self.n_waiting > _LOGITS_AT_ONCE:
            self.predict()

    def predict(self) -> None:
        """Compute the predictions that are waiting."""
        if not self.waiting:
            return
        several = len(self.waiting) > 1
        logits = torch.cat(self.waiting, dim=1) if several else self.waiting[0]
        self.waiting.clear()
        self.n_waiting = 0
        if len(logits) > 1:
            logits = torch.softmax(logits, dim=-1).mean(dim=0, keepdim=True)
        self.predicted.append(logits.argmax(dim=2).view(-1))

    def newest(self) -> Tensor:
        """Return the predictions of the batch that was added last."""
        self.predict()
        return self.predicted[-1][-self.n_last :]

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
