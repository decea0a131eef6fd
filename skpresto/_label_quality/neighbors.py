"""Votes of the nearest neighbors of samples on their classes."""

import torch
from torch import Tensor

#: Similarities that are computed at once: 64 MB.
_VALUES_AT_ONCE = 1 << 24


def neighbor_votes(
    features: Tensor,
    references: Tensor,
    labels: Tensor,
    n_classes: int,
    n_neighbors: int,
) -> Tensor:
    """Return how many of the nearest neighbors of each sample have each label.

    Neighbors are those with the largest cosine similarity. The memory for similarities
    is bounded, whatever the number of samples.

    Parameters
    ----------
    features : Tensor of shape (n_samples, d)
        Representation of the samples.
    references : Tensor of shape (n_references, d)
        Representation of the samples among which neighbors are searched.
    labels : Tensor of shape (n_references,)
        Their class numbers.
    n_classes : int
        Number of classes.
    n_neighbors : int
        Number of neighbors, at most ``n_references``.

    Examples
    --------
    >>> points = torch.tensor([[1.0, 0.0], [2.0, 0.1], [0.0, 1.0]])
    >>> neighbor_votes(points, points, torch.tensor([0, 1, 1]), 2, 2).tolist()
    [[1.0, 1.0], [1.0, 1.0], [0.0, 2.0]]
    """
    # In place of a division by the length of samples, which has no effect on ranks.
    directions = torch.nn.functional.normalize(references, dim=1).T
    at_once = max(1, _VALUES_AT_ONCE // len(references))
    votes = torch.zeros((len(features), n_classes), device=features.device)
    for block, counted in zip(
        features.split(at_once), votes.split(at_once), strict=True
    ):
        similarities = block @ directions
        nearest = similarities.topk(n_neighbors, dim=1, sorted=False).indices
        voted = labels[nearest]
        counted.scatter_add_(1, voted, torch.ones_like(voted, dtype=votes.dtype))
    return votes
