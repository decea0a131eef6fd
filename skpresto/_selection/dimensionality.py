"""D2L: rely less on labels when the dimensionality of the representation increases."""

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from skpresto._training.policy import Batch, Selection, SelectionPolicy

# Added to ratios of distances, since that of equal samples is zero.
_SMALL = 1e-8


def local_dimensionality(activations: Tensor, n_neighbors: int) -> float:
    """Return the mean local intrinsic dimensionality (LID) of some samples.

    With the distances d_1 <= ... <= d_k of a sample to its k nearest neighbors among
    the others, the estimate is ``-k / sum(log(d_j / d_k))``. Samples whose neighbors
    are all equally far have none; nan is returned if that holds for all samples.

    Parameters
    ----------
    activations : Tensor of shape (b, d)
        Representation of the samples.
    n_neighbors : int
        k; fewer if there are fewer other samples.

    Examples
    --------
    >>> import torch
    >>> points = torch.tensor([[0.0], [1.0], [3.0]])
    >>> round(local_dimensionality(points, n_neighbors=2), 3)
    3.213
    """
    k = min(n_neighbors, len(activations) - 1)
    values = activations.double()
    # A sample comes first in its own row, also if others equal it.
    distances = torch.cdist(values, values).fill_diagonal_(-1)
    nearest = distances.topk(k + 1, dim=1, largest=False).values[:, 1:]
    logarithms = (nearest / nearest[:, -1:] + _SMALL).log().sum(dim=1)
    estimates = -k / logarithms
    return estimates[estimates.isfinite() & (estimates > 0)].mean().item()


class MixLabelsByDimensionality(SelectionPolicy):
    """Mix labels with predictions from the epoch on in which the LID increases.

    The *turning point* is the first epoch, after a warm-up, whose LID exceeds the mean
    of the ``window`` epochs before by more than two standard deviations. From then on
    the target is ``alpha * label + (1 - alpha) * predicted class``, where
    ``alpha = exp(-e / n_epochs * LID_e / min LID)`` after e epochs.

    Parameters
    ----------
    measure : callable
        Returns the LID of the present representation; called after each epoch.
    losses_of : callable
        Maps logits and class numbers to one loss per sample.
    n_epochs : int
        Number of epochs of the training.
    warm_up : int
        Epochs before those of the first window.
    window : int
        Number of epochs with which an epoch is compared.

    Attributes
    ----------
    dimensionalities : list of float
        The LID after each epoch; that of the epoch before if there is none.
    turning_epoch : int or None
        Number of epochs at the turning point.
    alpha : float
        Weight of the given labels.
    """

    may_select_nothing = False

    def __init__(
        self,
        measure: Callable[[], float],
        losses_of: Callable[[Tensor, Tensor], Tensor],
        n_epochs: int,
        warm_up: int,
        window: int,
    ) -> None:
        self.measure = measure
        self.losses_of = losses_of
        self.n_epochs = n_epochs
        self.warm_up = warm_up
        self.window = window
        self.dimensionalities: list[float] = []
        self.turning_epoch: int | None = None
        self.alpha = 1.0
        self._n_completed = 0

    def select(self, batch: Batch) -> Selection:
        """Return the whole batch, with mixed targets after the turning point."""
        if self.turning_epoch is None:
            return Selection()
        predicted = batch.logits.argmax(dim=2)

        def mixed(logits: Tensor, losses: Tensor) -> Tensor:
            # The loss of a mixture of two classes, for any criterion.
            other = self.losses_of(logits, predicted).view(losses.shape)
            return self.alpha * losses + (1 - self.alpha) * other

        return Selection(objective=mixed)

    def epoch_summary(self) -> dict[str, Any]:
        """Measure the LID after an epoch, and return it for the record."""
        measured = self.measure()
        self._n_completed += 1
        if measured > 0:
            self._add(measured)
        elif self.dimensionalities:
            self._add(self.dimensionalities[-1])
        return {"dimensionality": measured if measured > 0 else None}

    def _add(self, dimensionality: float) -> None:
        self.dimensionalities.append(dimensionality)
        if self.turning_epoch is None and self._is_turning():
            self.turning_epoch = self._n_completed
        if self.turning_epoch is not None:
            growth = dimensionality / min(self.dimensionalities)
            self.alpha = math.exp(-self._n_completed / self.n_epochs * growth)

    def _is_turning(self) -> bool:
        *before, present = self.dimensionalities
        if len(before) < self.warm_up + self.window:
            return False
        recent = torch.tensor(before[-self.window :], dtype=torch.float64)
        threshold = recent.mean() + 2 * recent.std(correction=0)
        return present > threshold.item()
