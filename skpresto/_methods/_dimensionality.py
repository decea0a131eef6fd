"""The local intrinsic dimensionality of the representation before the last layer."""

import numpy as np
import torch
from torch import Tensor

from skpresto._data.training_data import PredictionRows
from skpresto._networks.activations import activations_and_logits
from skpresto._training.trainer import Trainer

# Samples drawn after each epoch, and those among which neighbors are searched.
_N_SAMPLES = 1280
N_TOGETHER = 128
# Added to ratios of distances, since that of equal samples is zero.
_SMALL = 1e-8


def mean_dimensionality(trainer: Trainer, n_neighbors: int) -> float:
    """Return the mean LID of samples drawn at random, in groups of 128.

    A last group too small for that many neighbors is left out, unless it is the only
    one.
    """
    rows = trainer.data.training_rows(None)
    drawn = torch.randperm(len(rows))[:_N_SAMPLES]
    index = drawn if rows.rows is None else rows.rows[drawn]
    sampled = PredictionRows(trainer.data.X, index)
    activations, _ = activations_and_logits(trainer.net, sampled)
    first, *others = activations.split(N_TOGETHER)
    groups = [first, *(group for group in others if len(group) > n_neighbors)]
    means = [local_dimensionality(group, n_neighbors) for group in groups]
    return float(np.average(means, weights=[len(group) for group in groups]))


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
    values = activations.cpu().double()  # not all devices have float64
    # A sample comes first in its own row, also if others equal it.
    distances = torch.cdist(values, values).fill_diagonal_(-1)
    nearest = distances.topk(k + 1, dim=1, largest=False).values[:, 1:]
    logarithms = (nearest / nearest[:, -1:] + _SMALL).log().sum(dim=1)
    estimates = -k / logarithms
    return estimates[estimates.isfinite() & (estimates > 0)].mean().item()
