"""How labels go wrong, and how sure those are who say so."""

from typing import NamedTuple

import numpy as np
import torch
from scipy.optimize import minimize_scalar
from torch import Tensor

# An estimate begins where the last one ended, so that a few steps are enough.
_ROUNDS = 3
_STEPS_A_ROUND = 3
# Opinions are never made more than four times as sure, or unsure, as they are.
_TEMPERATURES = (1 / 4, 4)


class NoiseModel(NamedTuple):
    """What a label says about the true class, next to an opinion of the sample.

    If samples of class j are labelled k with the frequency ``matrix[j, k]``, then by
    Bayes' rule a sample labelled k belongs to class j with a probability in proportion
    to ::

        softmax(log_probability / temperature)[j] * matrix[j, k]

    A label that mistakes rarely produce needs little in its favour, one that they often
    produce needs most.

    Parameters
    ----------
    matrix : Tensor of shape (n_classes, n_classes)
        How often each class, row by row, carries each label.
    temperature : float, default=1.0
        What opinions are divided by: below 1 they deserve more trust than they claim.

    Notes
    -----
    Both are estimated by making the labels as likely as possible. Opinions must come
    from someone who has not seen the labels; those of a network that has learnt them
    would explain every mistake. The matrix is estimated by expectation maximization.
    Merely counting which labels the most likely classes carry would take every mistake
    of the opinions for one of the labels.
    """

    matrix: Tensor
    temperature: float = 1.0

    @classmethod
    def counted(
        cls, log_probability: Tensor, labels: Tensor, n_classes: int
    ) -> "NoiseModel":
        """Return a first guess, which takes the most likely class for the truth."""
        best = log_probability.argmax(dim=1)
        is_best = torch.nn.functional.one_hot(best, n_classes).to(log_probability.dtype)
        return cls(_frequencies(is_best, labels, n_classes))

    def likely(self, log_probability: Tensor, labels: Tensor) -> Tensor:
        """Return how likely each class is the true one, of shape (b, c).

        Parameters
        ----------
        log_probability : Tensor of shape (b, c)
            Opinions, as logarithms of probabilities.
        labels : Tensor of shape (b,)
            Labels as given.
        """
        joint = self._joint(log_probability, labels)
        return joint.div_(joint.sum(dim=1, keepdim=True))

    def _joint(self, log_probability: Tensor, labels: Tensor) -> Tensor:
        probability = torch.softmax(log_probability / self.temperature, dim=1)
        return probability.mul_(self.matrix.t().index_select(0, labels))

    def log_likelihood(self, log_probability: Tensor, labels: Tensor) -> float:
        """Return the mean logarithm of the probability of labels."""
        return self._joint(log_probability, labels).sum(dim=1).log_().mean().item()

    def improved(self, log_probability: Tensor, labels: Tensor) -> "NoiseModel":
        """Return a model under which the labels are more likely."""
        model = self
        for _ in range(_ROUNDS if len(labels) else 0):
            model = model._with_best_temperature(log_probability, labels)
            for _ in range(_STEPS_A_ROUND):
                likely = model.likely(log_probability, labels)
                matrix = _frequencies(likely, labels, len(self.matrix))
                model = model._replace(matrix=matrix)
        return model

    def _with_best_temperature(
        self, log_probability: Tensor, labels: Tensor
    ) -> "NoiseModel":
        def unlikelihood(log_temperature: float) -> float:
            model = self._replace(temperature=float(np.exp(log_temperature)))
            return -model.log_likelihood(log_probability, labels)

        found = minimize_scalar(
            unlikelihood,
            bounds=np.log(_TEMPERATURES),
            method="bounded",
            options={"xatol": 0.05},
        )
        return self._replace(temperature=float(np.exp(found.x)))


def _frequencies(likely: Tensor, labels: Tensor, n_classes: int) -> Tensor:
    """Return how often each class carries each label, if classes are as likely."""
    counts = likely.new_zeros(n_classes, n_classes)
    counts = counts.index_add_(0, labels, likely).t()
    # As if there were one more sample of each class, labelled at random.
    return (counts + 1 / n_classes) / (counts.sum(dim=1, keepdim=True) + 1)
