"""A mini-batch as recorders and policies see it."""

from typing import NamedTuple

from torch import Tensor


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
    """

    index: Tensor  # type: ignore[assignment]  # hides tuple.index, which is not used
    labels: Tensor
    logits: Tensor
    losses: Tensor
    epoch: int
    fold: Tensor | None = None
