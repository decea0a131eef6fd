"""What a policy sees of a mini-batch, and what it answers."""

from typing import NamedTuple

from torch import Tensor


class Batch(NamedTuple):
    """A mini-batch as k networks see it: b samples, c classes, nothing with gradients.

    Parameters
    ----------
    index : Tensor of shape (b,)
        Positions of the samples in the training set.
    labels : Tensor of shape (b,)
        Labels as given, as class numbers.
    logits : Tensor of shape (k, b, c)
        Outputs of the training forward pass of each network.
    losses : Tensor of shape (k, b)
        Loss of each sample against its given label.
    epoch : int
        Number of epochs finished before this one.
    """

    index: Tensor  # type: ignore[assignment]  # hides tuple.index, which nobody needs
    labels: Tensor
    logits: Tensor
    losses: Tensor
    epoch: int


class Selection(NamedTuple):
    """What each network learns from a mini-batch.

    Parameters
    ----------
    weights : Tensor of shape (k, b), or None
        Weight of each sample in the mean loss of each network; 0 or False leaves it
        out. None means that all samples count the same. A network whose weights are
        all zero learns nothing: its weights, its optimizer state and its BatchNorm
        statistics stay as they are.
    labels : Tensor of shape (b,) or (k, b), or None
        Labels to learn. None means those given.
    """

    weights: Tensor | None = None
    labels: Tensor | None = None
