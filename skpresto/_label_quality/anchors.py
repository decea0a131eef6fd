"""The transition matrix of label noise, read from a typical sample of each class."""

import torch
from torch import Tensor

# No label is impossible, even if a network is certain that it is.
_SMALLEST = 1e-7


def anchor_transition_matrix(
    probability: Tensor, labels: Tensor, outlier_fraction: float
) -> Tensor:
    """Return the probabilities predicted for an anchor of each class.

    The anchor of a class is the sample with the highest predicted probability of it.
    If it certainly belongs to the class, what a network that is trained on noisy labels
    predicts for it is the probability of each label for that class.

    Parameters
    ----------
    probability : Tensor of shape (n_samples, n_classes)
        Class probabilities, predicted by a network that is trained on noisy labels.
    labels : Tensor of shape (n_samples,)
        Given labels, as class numbers.
    outlier_fraction : float in [0, 1)
        The highest probabilities of a class are left out, as many as this fraction of
        its labels, since they may be outliers.

    Returns
    -------
    matrix : Tensor of shape (n_classes, n_classes)
        Rows for true classes, columns for given labels; rows sum to 1.

    Examples
    --------
    >>> p = torch.tensor([[0.9, 0.1], [0.7, 0.3], [0.2, 0.8], [0.1, 0.9]])
    >>> labels = torch.tensor([0, 0, 1, 1])
    >>> anchor_transition_matrix(p, labels, outlier_fraction=0)
    tensor([[0.9000, 0.1000],
            [0.1000, 0.9000]])
    >>> anchor_transition_matrix(p, labels, outlier_fraction=0.5)
    tensor([[0.7000, 0.3000],
            [0.2000, 0.8000]])
    """
    n_classes = probability.shape[1]
    n_labels = torch.bincount(labels, minlength=n_classes).tolist()
    anchors = []
    for column, n in zip(probability.t(), n_labels, strict=True):
        candidates = column
        if n_outliers := round(outlier_fraction * n):
            limit = column.topk(n_outliers).values[-1]
            candidates = column.where(column < limit, -1.0)
        # If all probabilities are equal, no candidate is left.
        has_any = bool((candidates >= 0).any())
        anchors.append((candidates if has_any else column).argmax())
    rows = probability.index_select(0, torch.stack(anchors)).cpu().double()
    rows.clamp_(min=_SMALLEST)
    return (rows / rows.sum(dim=1, keepdim=True)).to(probability.dtype)
