"""What networks think of samples that they do not learn from."""

from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from skpresto._training.batch import Batch

# Samples looked at together when all are asked about.
_SAMPLES_AT_ONCE = 1 << 14

# How much flatter a mean may be made in the end, from not at all to four times.
# Sharper ones often fit better, but give up right labels that are hard to learn.
_TEMPERATURES = [2 ** (step / 10) for step in range(21)]

# What a class has at least in a geometric mean, so that no single visit rules it out.
_LEAST_PROBABILITY = 1e-6


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
    doubt : Tensor of shape (n,)
        How likely the label is wrong that is to be learnt, given or corrected.
    """

    is_safe: Tensor
    is_corrected: Tensor
    labels: Tensor
    likely_right: Tensor
    best: Tensor
    doubt: Tensor

    @property
    def is_learnt(self) -> Tensor:
        """Whether there is a label to learn from, given or corrected."""
        return self.is_safe | self.is_corrected


class LeftOutOpinion:
    """Judge each label by a network that does not learn from it.

    A network that learns from a wrong label comes to predict it, and so to vouch for
    it. Here each of several networks leaves a part of the samples out, and the
    probabilities that it gives to these at their visits are averaged, with weights
    that fade over about q visits. They are the opinion of someone who has not seen the
    label. If samples of class j are labelled k with the frequency ``noise[j, k]``, then
    by Bayes' rule a sample labelled k belongs to class j with a probability in
    proportion to ::

        probability[j] * noise[j, k]

    The frequencies are counted: the class of the highest probability is taken for the
    truth. A label that mistakes rarely produce needs little in its favour, one that
    they often produce needs most.

    While networks learn, the mean is arithmetic, which is cautious: an epoch in which a
    class was thought possible speaks for it. In the end (:meth:`settle`) it is
    geometric, which is strict: what has become unlikely is so, whatever was thought of
    it when wrong labels were still learnt from. And frequencies are then counted among
    the surest half of each class, because the mistakes of judges pass for mistakes in
    labels, and right labels of hard samples would be given up for them.

    Parameters
    ----------
    left_out_by : Tensor of shape (n_samples,)
        The network that does not learn from each sample; -1 if all do, and the last
        one judges.
    n_classes : int
        Number of classes.
    q : int
        Number of visits over which an opinion fades.
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
        shape = len(left_out_by), n_classes
        self._probability = torch.zeros(shape, device=left_out_by.device)
        self._log_probability = torch.zeros_like(self._probability)
        self._is_settled = False

    def add(self, index: Tensor, probability: Tensor) -> None:
        """Take in probabilities of the samples at ``index``, of shape (b, c)."""
        probability = probability.to(self._probability.dtype)
        # Only proportions matter, so that a first opinion need not be scaled up.
        self._fade(self._probability, index, probability)
        logarithm = probability.clamp(min=_LEAST_PROBABILITY).log_()
        self._fade(self._log_probability, index, logarithm)

    def _fade(self, means: Tensor, index: Tensor, values: Tensor) -> None:
        """Let a mean move towards new values, and older ones count less."""
        mean = means.index_select(0, index).lerp_(values, 1 / self.q)
        means.index_copy_(0, index, mean)

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
        self.add(batch.index, torch.softmax(logits, dim=1))
        return networks != judge

    def is_visited(self) -> Tensor:
        """Return of which samples there is an opinion."""
        return self._probability.sum(dim=1) > 0

    def settle(self, labels: Tensor) -> None:
        """Take geometric means from now on; nothing can be added after this.

        Parameters
        ----------
        labels : Tensor of shape (n_samples,)
            All labels as given. They tell whether judges are too sure: the means are
            flattened by the temperature under which these labels are most likely.
        """
        total = self._probability.sum(dim=1, keepdim=True)
        tiny = torch.finfo(total.dtype).tiny
        logits = self._log_probability.div_(total.clamp(min=tiny))
        # A sample without an opinion stays without.
        self._probability = torch.softmax(logits, dim=1).mul_(total > 0)
        of_label = self.noise(labels).t().index_select(0, labels).mul_(total > 0)

        def likelihood(temperature: float) -> float:
            likely = torch.softmax(logits / temperature, dim=1).mul_(of_label)
            return likely.sum(dim=1).clamp_(min=tiny).log_().mean().item()

        flatter = logits / max(_TEMPERATURES, key=likelihood)
        self._probability = torch.softmax(flatter, dim=1).mul_(total > 0)
        self._is_settled = True
        del self._log_probability

    def noise(self, labels: Tensor) -> Tensor:
        """Return how often each class carries each label, as far as is known now."""
        is_visited = self.is_visited()
        sureness, classes = self._probability.max(dim=1)
        pairs = (classes * self.n_classes + labels)[is_visited]
        if self._is_settled:
            is_sure = is_surest_half(sureness[is_visited], classes[is_visited])
            pairs = pairs[is_sure]
        counts = torch.bincount(pairs, minlength=self.n_classes**2).float()
        counts = counts.view(self.n_classes, self.n_classes)
        # As if there were one more sample of each class, labelled at random.
        totals = counts.sum(dim=1, keepdim=True) + 1
        return (counts + 1 / self.n_classes) / totals

    def likely(self, labels: Tensor, index: Tensor, noise: Tensor) -> Tensor:
        """Return how likely each class is the true one, of shape (b, c).

        Parameters
        ----------
        labels : Tensor of shape (b,)
            Labels as given.
        index : Tensor of shape (b,)
            The samples that they belong to.
        noise : Tensor of shape (n_classes, n_classes)
            What :meth:`noise` returned.
        """
        probability = self._probability.index_select(0, index)
        joint = probability.mul_(noise.t().index_select(0, labels))
        # A sample without an opinion gets no probability at all.
        tiny = torch.finfo(joint.dtype).tiny
        return joint.div_(joint.sum(dim=1, keepdim=True).clamp_(min=tiny))

    def judge(self, labels: Tensor, index: Tensor, noise: Tensor) -> Judgement:
        """Return what is to be made of labels; parameters as for :meth:`likely`."""
        likely = self.likely(labels, index, noise)
        likely_right = likely.gather(1, labels.unsqueeze(1)).squeeze(1)
        is_safe = likely_right >= 0.5
        highest, best = likely.max(dim=1)
        is_clear = (highest >= 1 - self.epsilon) & (highest > 0) & (best != labels)
        is_corrected = is_clear & ~is_safe
        corrected = torch.where(is_corrected, best, labels)
        doubt = 1 - torch.where(is_corrected, highest, likely_right)
        return Judgement(is_safe, is_corrected, corrected, likely_right, best, doubt)

    def judge_all(self, labels: Tensor) -> Judgement:
        """Return what is to be made of all labels, as far as is known now."""
        noise = self.noise(labels)
        samples = torch.arange(len(labels), device=labels.device)
        parts = [
            self.judge(labels.index_select(0, index), index, noise)
            for index in samples.split(_SAMPLES_AT_ONCE)
        ]
        return Judgement(*map(torch.cat, zip(*parts, strict=True)))

    def agrees(self, labels: Tensor) -> Tensor:
        """Return which of all labels are safe now."""
        return self.judge_all(labels).is_safe


def is_surest_half(sureness: Tensor, classes: Tensor) -> Tensor:
    """Return which samples are at least as sure as the middle one of their class.

    Examples
    --------
    >>> sureness = torch.tensor([0.9, 0.6, 0.7, 0.5])
    >>> is_surest_half(sureness, torch.tensor([0, 0, 0, 1])).tolist()
    [True, False, True, True]
    """
    order = sureness.argsort(descending=True)
    order = order[classes[order].argsort(stable=True)]
    counts = torch.bincount(classes)
    # Of an even number, the surer one of the two in the middle.
    middle = (counts.cumsum(0) - counts + (counts - 1) // 2).clamp(min=0)
    return sureness >= sureness[order[middle]][classes]


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
