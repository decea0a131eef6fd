"""Losses corrected by a known transition matrix of the label noise."""

from typing import Any

import numpy as np
import torch
from torch import Tensor

from skpresto.losses._base import RobustLoss, mean_at

#: Largest deviation from 1 of the sum of a row.
_TOLERANCE = 1e-3


class _CorrectedLoss(RobustLoss):
    """A loss with a transition matrix, which moves with it to another device."""

    transition_matrix: Tensor

    def __init__(self, transition_matrix: Any, reduction: str) -> None:
        super().__init__(reduction)
        matrix = _checked_matrix(type(self).__name__, transition_matrix)
        self.register_buffer("transition_matrix", torch.from_numpy(matrix).float())

    def _check_shapes(self, logits: Tensor, targets: Tensor) -> None:
        super()._check_shapes(logits, targets)
        n_classes = len(self.transition_matrix)
        if logits.shape[1] != n_classes:
            raise ValueError(
                f"{type(self).__name__} got a transition_matrix of {n_classes} "
                f"classes, but logits of {logits.shape[1]}. Give it a row and a column "
                "for each class."
            )

    def extra_repr(self) -> str:
        """Return the number of classes, for ``repr``."""
        return f"n_classes={len(self.transition_matrix)}"


def _checked_matrix(owner: str, matrix: Any) -> np.ndarray:
    """Return a transition matrix in double precision, with rows that sum to 1."""
    if isinstance(matrix, Tensor):
        matrix = matrix.detach().cpu()
    try:
        values = np.asarray(matrix, dtype=np.float64)
    except (TypeError, ValueError):
        values = np.empty(0)
    is_square = values.ndim == 2 and values.shape[0] == values.shape[1] >= 2
    if not is_square:
        raise ValueError(
            f"{owner} needs transition_matrix to be a square matrix of numbers with at "
            "least two rows, the probability of each label (columns) for each true "
            f"class (rows), got {_description(matrix)}."
        )
    sums = values.sum(axis=1)
    is_stochastic = (values >= 0).all() and (np.abs(sums - 1) < _TOLERANCE).all()
    if not is_stochastic:
        raise ValueError(
            f"{owner} needs the rows of transition_matrix to be probabilities of at "
            f"least 0 that sum to 1, got rows with the sums {sums.round(4).tolist()} "
            f"and the smallest entry {values.min():.4g}."
        )
    impossible = np.flatnonzero(~values.any(axis=0))
    if len(impossible):
        raise ValueError(
            f"{owner} needs every label to be possible, but column {impossible[0]} of "
            "transition_matrix has only zeros. Leave that class out, or give the label "
            "a small probability."
        )
    return values / sums[:, None]


def _description(matrix: Any) -> str:
    shape = getattr(matrix, "shape", None)
    return repr(matrix) if shape is None else f"an array of shape {tuple(shape)}"


class ForwardCorrectionLoss(_CorrectedLoss):
    """Cross-entropy of the noisy labels that the prediction would lead to.

    If labels of class i are given as j with probability ``T[i, j]``, a network that
    predicts p for the true class predicts ``p @ T`` for the given label. The loss is
    ``-log((p @ T)[y])`` [1]_.

    Parameters
    ----------
    transition_matrix : array-like of shape (n_classes, n_classes)
        T: the probability of each given label (columns) for each true class (rows).
        Classes are in sorted order, as in ``classes_`` of the classifiers.
    reduction : {"mean", "sum", "none"}, default="mean"
        What is returned: the mean of the losses, their sum, or one per sample.

    See Also
    --------
    skpresto.baselines.ForwardCorrectionClassifier : Estimates the matrix.

    References
    ----------
    .. [1] G. Patrini et al., "Making deep neural networks robust to label noise: a loss
       correction approach", CVPR 2017.

    Examples
    --------
    >>> import torch
    >>> from skpresto.losses import ForwardCorrectionLoss
    >>> loss = ForwardCorrectionLoss([[0.6, 0.4], [0.0, 1.0]])
    >>> round(loss(torch.tensor([[9.0, 0.0]]), torch.tensor([1])).item(), 4)
    0.9161
    """

    def __init__(self, transition_matrix: Any, reduction: str = "mean") -> None:
        super().__init__(transition_matrix, reduction)

    def _losses(self, log_p: Tensor, targets: Tensor) -> Tensor:
        matrix = self.transition_matrix.to(log_p.dtype)
        if not targets.is_floating_point():
            of_label = matrix.t().index_select(0, targets.long())
            return -torch.logsumexp(log_p + of_label.log(), dim=1)
        # One column of the matrix after the other would be exact for any logits, but
        # takes a table of all pairs of classes for each sample.
        with torch.autocast(log_p.device.type, enabled=False):
            noisy = log_p.exp() @ matrix
        return -mean_at(noisy.clamp(min=torch.finfo(noisy.dtype).tiny).log(), targets)


class BackwardCorrectionLoss(_CorrectedLoss):
    """Cross-entropy whose mean over noisy labels is that over correct ones.

    The loss is ``-(inv(T) @ log(p))[y]`` [1]_. It is unbiased, but can be
    negative, and its variance grows with the condition number of T: forward correction
    is usually better.

    Parameters
    ----------
    transition_matrix : array-like of shape (n_classes, n_classes)
        T, invertible; see :class:`ForwardCorrectionLoss`.
    reduction : {"mean", "sum", "none"}, default="mean"
        What is returned: the mean of the losses, their sum, or one per sample.

    References
    ----------
    .. [1] G. Patrini et al., "Making deep neural networks robust to label noise: a loss
       correction approach", CVPR 2017.

    Examples
    --------
    >>> import torch
    >>> from skpresto.losses import BackwardCorrectionLoss
    >>> loss = BackwardCorrectionLoss([[0.8, 0.2], [0.0, 1.0]])
    >>> round(loss(torch.tensor([[2.0, 0.0]]), torch.tensor([0])).item(), 4)
    -0.3731
    """

    inverse: Tensor

    def __init__(self, transition_matrix: Any, reduction: str = "mean") -> None:
        super().__init__(transition_matrix, reduction)
        matrix = _checked_matrix(type(self).__name__, transition_matrix)
        condition = np.linalg.cond(matrix)
        if not condition < 1e6:
            raise ValueError(
                "BackwardCorrectionLoss needs a transition_matrix that can be "
                f"inverted, got one with the condition number {condition:.3g}. Use "
                "ForwardCorrectionLoss."
            )
        inverse = torch.from_numpy(np.linalg.inv(matrix)).float()
        self.register_buffer("inverse", inverse, persistent=False)

    def _losses(self, log_p: Tensor, targets: Tensor) -> Tensor:
        inverse = self.inverse.to(log_p.dtype)
        if targets.is_floating_point():
            with torch.autocast(log_p.device.type, enabled=False):
                weights = targets @ inverse
        else:
            weights = inverse.index_select(0, targets.long())
        return -(weights * log_p).sum(dim=1)
