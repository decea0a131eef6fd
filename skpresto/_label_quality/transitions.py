"""The transition matrix of label noise, counted from predictions."""

import numpy as np
import torch
from scipy.special import gammaln
from torch import Tensor

from skpresto._label_quality.blocks import blocks
from skpresto.noise._counts import joint_counts, rows_given_truth

# Strengths of the prior of uniform errors among which the most likely one is chosen.
_STRENGTHS = (0.1, 0.3, 1, 3, 10, 30, 100, 300, 1000, 3000)
# Likelihoods that differ by less count as equal.
_TOLERANCE = 1e-6


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
        matrix[block] = _rows(
            ordered[first:last], labels[first:last], block, n_classes, damping
        )
    return torch.from_numpy(matrix.T).to(true.device).t()


def _rows(
    true: np.ndarray, given: np.ndarray, block: slice, n_classes: int, damping: float
) -> np.ndarray:
    """Return the rows of a block of classes."""
    n_rows = block.stop - block.start
    joint = joint_counts(given, true - block.start, n_classes, n_rows)
    joint = joint.astype(np.float32)
    if not damping:
        return rows_given_truth(joint, smoothing=1)
    identity = np.eye(n_rows, n_classes, k=block.start)
    prior = ((identity + 1 / n_classes) / 2).astype(np.float32)
    counted = rows_given_truth(joint, smoothing=1, prior=prior)
    return (1 - damping) * counted + damping * prior


def shrunken_transition_matrix(true: Tensor, given: Tensor, n_classes: int) -> Tensor:
    """Return how often each class carries each label, with less sampling error.

    The counts of a few wrong labels per class are mostly chance, and the errors of a
    network look like label noise between similar classes. The distribution of the wrong
    labels of each class is therefore shrunk towards the uniform one: it has a symmetric
    Dirichlet prior, whose strength is the one under which the counts of all classes are
    most likely (empirical Bayes). Uniform noise is found to be uniform; noise between
    pairs of classes is left as counted.

    The noise rate of a class is counted with one more sample, labeled at random.

    Returns
    -------
    matrix : Tensor of shape (n_classes, n_classes)
        As from :func:`counted_transition_matrix`.

    Examples
    --------
    >>> true = torch.tensor([0] * 20 + [1] * 20 + [2] * 20)
    >>> given = torch.tensor([0] * 18 + [1, 2] + [1] * 18 + [2, 2] + [2] * 19 + [0])
    >>> shrunken_transition_matrix(true, given, n_classes=3)
    tensor([[0.8730, 0.0635, 0.0635],
            [0.0634, 0.8730, 0.0635],
            [0.0397, 0.0397, 0.9206]])
    """
    classes, labels = true.cpu().numpy(), given.cpu().numpy()
    is_wrong = classes != labels
    pairs = classes[is_wrong].astype(np.int64) * n_classes + labels[is_wrong]
    pairs, counts = np.unique(pairs, return_counts=True)
    rows, columns = np.divmod(pairs, n_classes)
    n_wrong = np.bincount(rows, weights=counts, minlength=n_classes)
    n_samples = np.bincount(classes, minlength=n_classes)
    n_others = max(1, n_classes - 1)
    strength = _likeliest_strength(counts, n_wrong, n_others)
    rate = (n_wrong + 1 - 1 / n_classes) / (n_samples + 1)
    scale = rate / (n_wrong + strength)
    matrix = np.empty((n_classes, n_classes), dtype=np.float32, order="F")
    matrix[:] = (scale * strength / n_others)[:, np.newaxis]
    matrix[rows, columns] += scale[rows] * counts
    np.fill_diagonal(matrix, 1 - rate)
    return torch.from_numpy(matrix.T).to(true.device).t()


def _likeliest_strength(
    counts: np.ndarray, n_wrong: np.ndarray, n_others: int
) -> float:
    """Return the strength of the prior that explains the counts of wrong labels best.

    Parameters
    ----------
    counts : ndarray
        Counts of pairs of a class and a wrong label, those that occur.
    n_wrong : ndarray of shape (n_classes,)
        Their sum for each class.
    n_others : int
        Number of wrong labels that a class can have.
    """
    likelihoods = [
        np.sum(gammaln(strength) - gammaln(n_wrong + strength))
        + np.sum(gammaln(counts + strength / n_others) - gammaln(strength / n_others))
        for strength in _STRENGTHS
    ]
    enough = max(likelihoods) - _TOLERANCE
    both = zip(_STRENGTHS, likelihoods, strict=True)
    return max(strength for strength, likelihood in both if likelihood >= enough)


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
