"""The probability of each given label over the epochs, recorded on request."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

# Probabilities are stored as 0 to 254, one byte per sample and epoch.
_SCALE = 254
_NOT_VISITED = 255

Observer = Callable[[Tensor, Tensor, int], None]


class Trajectories:
    """Store the probability of the given label at each visit.

    Attributes
    ----------
    labels : Tensor of shape (n_samples,)
        Given labels.
    fold_of : Tensor of shape (n_samples,), or None
        The network from which the probability of each sample is taken, the one that is
        not trained on it; None means the mean of all networks.
    """

    def __init__(self) -> None:
        self._epochs: list[Tensor] = []

    def begin(self, labels: Tensor, fold_of: Tensor | None = None) -> None:
        """Start anew, with the labels of the training that follows."""
        self.labels = labels
        self.fold_of = fold_of
        self._epochs = []

    def add(self, index: Tensor, logits: Tensor, epoch: int) -> None:
        """Add a visit, as described for observers of the training loop.

        An epoch that is repeated after going back to the stop point is replaced.
        """
        while len(self._epochs) <= epoch:
            shape, device = len(self.labels), self.labels.device
            empty = torch.full((shape,), _NOT_VISITED, dtype=torch.uint8, device=device)
            self._epochs.append(empty)
        probability = torch.softmax(logits, dim=2)
        labels = self.labels.index_select(0, index).expand(len(logits), -1)
        of_label = probability.gather(2, labels.unsqueeze(2)).squeeze(2)
        if self.fold_of is None:
            chosen = of_label.mean(dim=0)
        else:
            fold = self.fold_of.index_select(0, index)
            chosen = of_label[fold, torch.arange(len(index), device=fold.device)]
        self._epochs[epoch][index] = (chosen * _SCALE).round_().to(torch.uint8)

    def probabilities(self) -> NDArray[np.float32] | None:
        """Return what was recorded, None without any.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_epochs), dtype=float32
            Rounded to 1/254; NaN where a sample was held out.
        """
        if not self._epochs:
            return None
        stored = torch.stack(self._epochs, dim=1).cpu().numpy()
        values = stored.astype(np.float32) / np.float32(_SCALE)
        values[stored == _NOT_VISITED] = np.nan
        return values


_active: ContextVar[Trajectories | None] = ContextVar("trajectories", default=None)


@contextmanager
def recorded_trajectories() -> Iterator[Trajectories]:
    """Record the trajectories of the fit inside the ``with`` block.

    Methods with two phases and cross-fitting are recorded, others leave it empty.
    """
    trajectories = Trajectories()
    token = _active.set(trajectories)
    try:
        yield trajectories
    finally:
        _active.reset(token)


def begin_trajectories(
    labels: Tensor, fold_of: Tensor | None = None
) -> Observer | None:
    """Start anew if trajectories are recorded, and return what observes the batches.

    See :meth:`Trajectories.begin` for the parameters.
    """
    trajectories = _active.get()
    if trajectories is None:
        return None
    trajectories.begin(labels, fold_of)
    return trajectories.add


def also_recorded(observe: Observer | None) -> Observer | None:
    """Return ``observe``, or a function that also records if trajectories are."""
    trajectories = _active.get()
    if trajectories is None:
        return observe
    if observe is None:
        return trajectories.add

    def both(index: Tensor, logits: Tensor, epoch: int) -> None:
        observe(index, logits, epoch)
        trajectories.add(index, logits, epoch)

    return both
