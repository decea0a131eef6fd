"""The transition matrix of label noise, read from a typical sample of each class."""

import math

import torch
from torch import Tensor


def anchor_transition_matrix(probability: Tensor, outlier_fraction: float) -> Tensor:
    """Return the probabilities predicted for an anchor of each class.

    The anchor of a class is the sample with the highest predicted probability of it.
    If it certainly belongs to the class, what a network that is trained on noisy labels
    predicts for it is the probability of each label for that class.

    Parameters
    ----------
    probability : Tensor of shape (n_samples, n_classes)
        Class probabilities, predicted by a network that is trained on noisy labels.
    outlier_fraction : float in [0, 1)
        The highest probabilities of a class are left out, at least this fraction of
        all samples, since they may be outliers; with 0, none.

    Returns
    -------
    matrix : Tensor of shape (n_classes, n_classes)
        Rows for true classes, columns for given labels; rows sum to 1.

    Examples
    --------
    >>> p = torch.tensor([[0.9, 0.1], [0.7, 0.3], [0.2, 0.8], [0.1, 0.9]])
    >>> anchor_transition_matrix(p, outlier_fraction=0)
    tensor([[0.9000, 0.1000],
            [0.1000, 0.9000]])
    >>> anchor_transition_matrix(p, outlier_fraction=0.25)
    tensor([[0.7000, 0.3000],
            [0.2000, 0.8000]])
    """
    n_samples = len(probability)
    # In sorted order, the position from which on samples are left out.
    first_outlier = math.ceil((1 - outlier_fraction) * (n_samples - 1) - 1e-9)
    anchors = []
    for column in probability.t():
        candidates = column
        if outlier_fraction > 0:
            limit = column.kthvalue(first_outlier + 1).values
            candidates = column.where(column < limit, -1.0)
        # If all are equal, none is left.
        has_any = bool((candidates >= 0).any())
        anchors.append((candidates if has_any else column).argmax())
    rows = probability.index_select(0, torch.stack(anchors)).double()
    return (rows / rows.sum(dim=1, keepdim=True)).to(probability.dtype)
