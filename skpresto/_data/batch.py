"""A mini-batch as recorders and policies see it."""

from collections.abc import Callable
from typing import Any, NamedTuple

from torch import Tensor

#: Maps a function that changes the features of a batch to the logits (k, b, n_classes)
#: of the changed features, with gradients.
View = Callable[[Callable[[Any], Any]], Tensor]


class Batch(NamedTuple):
    """A mini-batch of b samples as k networks see it.

    It has no gradients, except the losses for policies with ``needs_gradients``.

    Parameters
    ----------
    index : Tensor of shape (b,)
        Positions of the samples in the training set.
    labels : Tensor of shape (b,)
        Given labels, as class numbers.
    logits : Tensor of shape (k, b, n_classes)
        Outputs of the training forward pass of each network.
    losses : Tensor of shape (k, b)
        Loss of each sample with respect to its given label.
    epoch : int
        Number of epochs completed by these networks.
    fold : Tensor of shape (b,), default=None
        Number of the network that does not train on each sample; -1 if all do. None
        unless networks are trained on folds.
    view : callable, default=None
        ``view(change)`` applies the networks once more, to ``change(features)``, and
        returns their logits with gradients. For policies with ``needs_views``.
    """

    index: Tensor  # type: ignore[assignment]  # hides tuple.index, which is not used
    labels: Tensor
    logits: Tensor
    losses: Tensor
    epoch: int
    fold: Tensor | None = None
    view: View | None = None
