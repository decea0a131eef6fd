"""The transition matrix of label noise, counted from predictions."""

import numpy as np
import torch
from torch import Tensor

from skpresto._label_quality.blocks import blocks
from skpresto.noise._counts import (
    joint_counts,
    rows_given_truth,
    shrunken_rows_given_truth,
)


def counted_transition_matrix(
    true: Tensor, given: Tensor, n_classes: int, damping: float = 0.0
) -> Tensor:
    """Return how often each class carries each label.

    One more sample per class, labeled at random, keeps every entry positive. With
    damping, that sample is labeled as in a prior by which half of the labels are
    correct and the others random, and the result is a mixture with that prior.

    Returns
    -------
    matrix : Tensor of shape (n_classes, n_classes)
        Rows for true classes, columns for given labels. It is stored by columns, which
        is how it is read: all classes for one label.

    Examples
    --------
    >>> true, given = torch.tensor([0, 0, 0, 1]), torch.tensor([0, 0, 1, 1])
    >>> counted_transition_matrix(true, given, n_classes=2)
    tensor([[0.6250, 0.3750],
            [0.2500, 0.7500]])
    """
    matrix = np.empty((n_classes, n_classes), dtype=np.float32, order="F")
    # Sorted by class, so that the samples of a block of classes lie together.
    order = true.argsort(stable=True)
    ordered, labels = true[order].cpu().numpy(), given[order].cpu().numpy()
    for block in blocks(n_classes, n_classes):
        first, last = np.searchsorted(ordered, [block.start, block.stop])
        n_rows = block.stop - block.start
        row_of = ordered[first:last] - block.start
        joint = joint_counts(labels[first:last], row_of, n_classes, n_rows)
        joint, prior = joint.astype(np.float32), None
        if damping:
            identity = np.eye(n_rows, n_classes, k=block.start)
            prior = ((identity + 1 / n_classes) / 2).astype(np.float32)
        counted = rows_given_truth(joint, smoothing=1, prior=prior)
        if prior is not None:
            counted = (1 - damping) * counted + damping * prior
        matrix[block] = counted
    return torch.from_numpy(matrix.T).to(true.device).t()


def shrunken_transition_matrix(true: Tensor, given: Tensor, n_classes: int) -> Tensor:
    """Return how often each class carries each label, with less sampling error.

    See :func:`skpresto.noise._counts.shrunken_rows_given_truth`. The result is stored
    like that of :func:`counted_transition_matrix`.
    """
    labels, classes = given.cpu().numpy(), true.cpu().numpy()
    matrix = shrunken_rows_given_truth(labels, classes, n_classes, np.float32)
    return torch.from_numpy(matrix.T).to(true.device).t()


def above_class_median_confidence(confidence: Tensor, predicted: Tensor) -> Tensor:
    """Return which samples are at least as confident as the median of their class.

    Of an even number of samples, the higher one of the two in the middle counts as the
    median.

    Examples
    --------
    >>> confidence = torch.tensor([0.9, 0.6, 0.7, 0.5])
    >>> above_class_median_confidence(confidence, torch.tensor([0, 0, 0, 1])).tolist()
    [True, False, True, True]
    """
    order = confidence.argsort(descending=True)
    order = order[predicted[order].argsort(stable=True)]
    counts = torch.bincount(predicted)
    middle = (counts.cumsum(0) - counts + (counts - 1) // 2).clamp(min=0)
    return confidence >= confidence[order[middle]][predicted]
