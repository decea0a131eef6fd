"""A second opinion: what the labels given around a sample say about its class."""

from dataclasses import dataclass

import torch
from torch import Tensor

from skpresto._label_quality.blocks import blocks

# So that no evidence excludes a class.
_LEAST_LOGARITHM = -50.0


@dataclass(frozen=True)
class Evidence:
    """How well each class explains the labels that are given around a sample.

    A classifier that was not trained on a sample predicts with which probabilities
    ``V[i, k]`` it is *given* each label k. Samples of class j are given them with the
    probabilities ``T[j, k]``. So class j explains them as well as

        ``e[i, j] = exp(weight * sum_k V[i, k] * log T[j, k])``,

    the likelihood of labels given in the proportions V, as many as ``weight``. Averaged
    with other probabilities of classes, V would be wrong: it has the noise in it.

    Parameters
    ----------
    given : Tensor of shape (n_samples, n_classes)
        V. A row of zeros is no evidence.
    transition_matrix : Tensor of shape (n_classes, n_classes)
        T, with rows for true classes, without zeros.
    weight : float, default=1.0
        Number of labels that V counts for.
    """

    given: Tensor
    transition_matrix: Tensor
    weight: float = 1.0

    def logarithm(self, index: Tensor) -> Tensor:
        """Return log e of the samples at ``index``; the highest of each row is 0."""
        given = self.given.index_select(0, index).float()
        logarithms = given @ self.transition_matrix.log().t()
        logarithms.sub_(logarithms.amax(dim=1, keepdim=True)).mul_(self.weight)
        return logarithms.clamp_(min=_LEAST_LOGARITHM)

    def most_probable(self, probability: Tensor) -> tuple[Tensor, Tensor]:
        """Return the highest of probabilities times e, normalized, and its class.

        Where ``probability`` of shape (n_samples, n_classes) is zero, it stays zero.
        """
        samples = torch.arange(len(probability), device=probability.device)
        found = []
        for part in blocks(*probability.shape):
            product = self.logarithm(samples[part]).exp_().mul_(probability[part])
            tiny = torch.finfo(product.dtype).tiny
            product.div_(product.sum(dim=1, keepdim=True).clamp_(min=tiny))
            found.append(product.max(dim=1))
        confidence, predicted = zip(*found, strict=True)
        return torch.cat(confidence), torch.cat(predicted)
