"""What networks think of samples that they do not learn from."""

from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from skpresto._training.batch import Batch
from skpresto._training.noise_model import NoiseModel

# Samples looked at together when all are asked about.
_SAMPLES_AT_ONCE = 1 << 14
# Samples that a noise model is estimated from: more would cost time and change little.
_SAMPLES_TO_LEARN_FROM = 1 << 15
# Nobody is so sure of anything that one visit should outweigh all others.
_LOWEST = -14.0


class Judgement(NamedTuple):
    """What is to be made of labels.

    Parameters
    ----------
    is_safe : Tensor of shape (n,), dtype=bool
        Whether the label is more likely right than wrong.
    is_corrected : Tensor of shape (n,), dtype=bool
        Whether it is not, and it is clear which one is right.
    labels : Tensor of shape (n,)
        The corrected label where there is one, the given one elsewhere.
    likely_right : Tensor of shape (n,)
        How likely the given label is right.
    best : Tensor of shape (n,)
        The most likely class.
    """

    is_safe: Tensor
    is_corrected: Tensor
    labels: Tensor
    likely_right: Tensor
    best: Tensor

    @property
    def is_learnt(self) -> Tensor:
        """Whether there is a label to learn from, given or corrected."""
        return self.is_safe | self.is_corrected


class LeftOutOpinion:
    """Judge each label by a network that does not learn from it.

    A network that learns from a wrong label comes to predict it, and so to vouch for
    it. Here each of several networks leaves a part of the samples out. The logarithms
    of the probabilities that it gives to these at their visits are averaged, and fade
    over about q visits: the opinion of someone who has not seen the label. What it
    means for a label is up to a :class:`NoiseModel`.

    Parameters
    ----------
    left_out_by : Tensor of shape (n_samples,)
        The network that does not learn from each sample; -1 if all do, and the last
        one judges.
    n_classes : int
        Number of classes.
    q : int
        Number of visits over which an opinion fades: the plain mean of as many, later
        ones have a weight of 1/q.
    epsilon : float
        Largest probability of a mistake at which a label is corrected.
    """

    def __init__(
        self, left_out_by: Tensor, n_classes: int, q: int, epsilon: float
    ) -> None:
        self.left_out_by = left_out_by
        self.n_classes = n_classes
        self.q = q
        self.epsilon = epsilon
        shape, device = (len(left_out_by), n_classes), left_out_by.device
        self._log_probability = torch.zeros(shape, device=device)
        self._n_visits = torch.zeros(len(left_out_by), device=device)
        uniform = torch.full((n_classes, n_classes), 1 / n_classes, device=device)
        self.model = NoiseModel(uniform)
        self._knows_noise = False

    def add(self, index: Tensor, log_probability: Tensor) -> None:
        """Take in log-probabilities of the samples at ``index``, of shape (b, c)."""
        n_visits = self._n_visits.index_select(0, index).add_(1).clamp_(max=self.q)
        self._n_visits.index_copy_(0, index, n_visits)
        mean = self._log_probability.index_select(0, index)
        said = log_probability.to(mean.dtype).clamp_(min=_LOWEST)
        mean.lerp_(said, 1 / n_visits.unsqueeze(1))
        self._log_probability.index_copy_(0, index, mean)

    def add_batch(self, batch: Batch) -> Tensor:
        """Take in what each sample's own judge says in a mini-batch.

        Returns
        -------
        is_learner : Tensor of shape (k, b), dtype=bool
            Which networks may learn from which samples: all but their judges.
        """
        judge = self.left_out_by.index_select(0, batch.index)
        n_networks, n_samples, _ = batch.logits.shape
        networks = torch.arange(n_networks, device=judge.device).unsqueeze(1)
        logits = batch.logits[judge, torch.arange(n_samples, device=judge.device)]
        self.add(batch.index, torch.log_softmax(logits, dim=1))
        return networks != judge

    def is_visited(self) -> Tensor:
        """Return of which samples there is an opinion."""
        return self._n_visits > 0

    def learn_noise(self, labels: Tensor) -> None:
        """Improve the noise model by all labels and what is thought of them now."""
        visited = self.is_visited().nonzero().squeeze(1)
        some = visited[:: -(-len(visited) // _SAMPLES_TO_LEARN_FROM) or 1]
        seen = self._log_probability.index_select(0, some), labels.index_select(0, some)
        if not self._knows_noise:
            self.model = NoiseModel.counted(*seen, self.n_classes)
            self._knows_noise = len(some) > 0
        self.model = self.model.improved(*seen)

    def likely(self, labels: Tensor, index: Tensor) -> Tensor:
        """Return how likely each class is the true one, of shape (b, c).

        Parameters
        ----------
        labels : Tensor of shape (b,)
            Labels as given.
        index : Tensor of shape (b,)
            The samples that they belong to.
        """
        log_probability = self._log_probability.index_select(0, index)
        likely = self.model.likely(log_probability, labels)
        # A sample without an opinion gets no probability at all.
        return likely.mul_(self.is_visited().index_select(0, index).unsqueeze(1))

    def judge(self, labels: Tensor, index: Tensor) -> Judgement:
        """Return what is to be made of labels; parameters as for :meth:`likely`."""
        likely = self.likely(labels, index)
        likely_right = likely.gather(1, labels.unsqueeze(1)).squeeze(1)
        is_safe = likely_right >= 0.5
        highest, best = likely.max(dim=1)
        is_clear = (highest >= 1 - self.epsilon) & (highest > 0) & (best != labels)
        is_corrected = is_clear & ~is_safe
        corrected = torch.where(is_corrected, best, labels)
        return Judgement(is_safe, is_corrected, corrected, likely_right, best)

    def judge_all(self, labels: Tensor) -> Judgement:
        """Return what is to be made of all labels, as far as is known now."""
        samples = torch.arange(len(labels), device=labels.device)
        parts = [
            self.judge(labels.index_select(0, index), index)
            for index in samples.split(_SAMPLES_AT_ONCE)
        ]
        return Judgement(*map(torch.cat, zip(*parts, strict=True)))

    def agrees(self, labels: Tensor) -> Tensor:
        """Return which of all labels are safe now."""
        return self.judge_all(labels).is_safe


def divide(labels: NDArray, n_parts: int, rng: np.random.RandomState) -> NDArray:
    """Divide samples by chance into parts of equal size, and so every class.

    The only sample of a class is in no part (-1): who leaves it out does not know the
    class.

    Examples
    --------
    >>> labels = np.array([0, 0, 1, 1, 1, 1, 2])
    >>> parts = divide(labels, 2, np.random.RandomState(0))
    >>> np.bincount(parts[:6]).tolist(), np.bincount(parts[labels == 1]).tolist()
    ([3, 3], [2, 2])
    >>> int(parts[6])
    -1
    """
    order = rng.permutation(len(labels))
    by_class = order[np.argsort(labels[order], kind="stable")]
    is_only = np.bincount(labels)[labels[by_class]] == 1
    parts = np.full(len(labels), -1)
    shared = by_class[~is_only]
    parts[shared] = np.arange(len(shared)) % n_parts
    return parts
