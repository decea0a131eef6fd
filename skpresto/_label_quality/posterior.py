"""The posterior probability that a given label is correct, by Bayes' rule."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from skpresto._device import fraction_of
from skpresto._label_quality.blocks import blocks, row_sums
from skpresto._label_quality.evidence import Evidence
from skpresto._label_quality.likeliest import Likeliest
from skpresto._label_quality.planted import PlantedErrors, planted_errors, sharpness
from skpresto._label_quality.transitions import (
    above_class_median_confidence,
    counted_transition_matrix,
    shrunken_transition_matrix,
)

# Lower bound of a probability in a product, so that no prediction excludes a class.
_MIN_PROBABILITY = 1e-6

# With two classes, a wrong label on a sample that networks mispredict agrees with them,
# and evidence must be strong enough to object (benchmarks/NOTES.md).
_WEIGHTS_OF_TWO = (1.0, 2.0, 4.0, 8.0, 16.0)


class LabelAssessment(NamedTuple):
    """What the posterior says about labels, one entry per sample.

    Parameters
    ----------
    is_safe : Tensor of shape (n,), dtype=bool
        Whether the given label has a posterior probability of at least one half.
    is_corrected : Tensor of shape (n,), dtype=bool
        Whether it has not, and another class is nearly certain.
    labels : Tensor of shape (n,)
        The corrected label where there is one, the given one elsewhere.
    quality : Tensor of shape (n,)
        Posterior probability that the given label is correct.
    suggested : Tensor of shape (n,)
        Class with the highest posterior probability.
    """

    is_safe: Tensor
    is_corrected: Tensor
    labels: Tensor
    quality: Tensor
    suggested: Tensor


@dataclass(frozen=True)
class LabelPosterior:
    """Combine predicted probabilities with counted label noise by Bayes' rule.

    If samples of class j carry the label k with probability ``T[j, k]``, a sample with
    predicted probabilities p and given label k belongs to class j with a probability
    proportional to ``p[j] * T[j, k]``. T is counted (:func:`count_transitions`), with
    the most probable class in place of the true one. So a label that label noise rarely
    produces needs little support, and one that it often produces needs much.

    With evidence e of another classifier (:class:`Evidence`), it is ``p[j] * e[j] *
    T[j, k]``.

    Parameters
    ----------
    probability : Tensor of shape (n_samples, n_classes)
        Predicted class probabilities, up to a factor per row; a row of zeros means
        that nothing is known.
    labels : Tensor of shape (n_samples,)
        Given labels.
    transition_matrix : Tensor of shape (n_classes, n_classes)
        T, with rows for true classes and columns for given labels.
    epsilon : float, default=0.0
        Largest probability of error at which a label is corrected.
    power : float, default=1.0
        The power to which probabilities are raised; evidence is not.
    evidence : Evidence, default=None
        What the labels given around each sample say.
    """

    probability: Tensor
    labels: Tensor
    transition_matrix: Tensor
    epsilon: float = 0.0
    power: float = 1.0
    evidence: Evidence | None = None

    @classmethod
    def counted(
        cls,
        probability: Tensor,
        labels: Tensor,
        epsilon: float = 0.0,
        given: Tensor | None = None,
        **how: Any,
    ) -> "LabelPosterior":
        """Return the posterior with T counted from the probabilities.

        ``how`` it is counted, see :func:`count_transitions`. With probabilities that
        each label is ``given`` (:class:`Evidence`), the evidence follows from this T,
        and T is counted once more, from probabilities times evidence. Evidence on two
        classes has the weight by which the labels are most likely, at least 1.
        """
        transitions = count_transitions(probability, labels, **how)
        if given is None:
            return cls(probability, labels, transitions, epsilon)
        weights = _WEIGHTS_OF_TWO if probability.shape[1] == 2 else (1.0,)
        found = []
        for weight in weights:
            evidence = Evidence(given, transitions, weight)
            again = count_transitions(probability, labels, evidence=evidence, **how)
            found.append(cls(probability, labels, again, epsilon, evidence=evidence))
        return found[0] if len(found) == 1 else max(found, key=cls.likelihood)

    def likelihood(self) -> float:
        """Return the mean log-likelihood of the labels, given all but them.

        It accounts for label noise: that of a label is the sum over classes of their
        probability, before Bayes' rule, times T.
        """
        total, n_known = 0.0, 0
        for index in self._all_samples():
            joint = self.probability.index_select(0, index).float().pow_(self.power)
            if self.evidence is not None:
                joint.mul_(self.evidence.logarithm(index).exp_())
            sums = joint.sum(dim=1)
            of_label = self.transition_matrix.t().index_select(
                0, self.labels.index_select(0, index)
            )
            known = sums > 0
            likely = joint.mul_(of_label).sum(dim=1)[known] / sums[known]
            total += likely.log_().cpu().double().sum().item()
            n_known += len(likely)
        return total / max(1, n_known)

    def posterior(self, index: Tensor) -> Tensor:
        """Return the posterior class probabilities of the samples at ``index``."""
        of_label = self.transition_matrix.t().index_select(
            0, self.labels.index_select(0, index)
        )
        joint = self.probability.index_select(0, index).float()
        if self.power != 1:
            joint.pow_(self.power)
        joint.mul_(of_label)
        if self.evidence is not None:
            joint.mul_(self.evidence.logarithm(index).exp_())
        # A sample of which nothing is known has no posterior: its row stays zero.
        tiny = torch.finfo(joint.dtype).tiny
        return joint.div_(joint.sum(dim=1, keepdim=True).clamp_(min=tiny))

    def assess(self, index: Tensor) -> LabelAssessment:
        """Return what the posterior says about the labels of samples at ``index``."""
        labels = self.labels.index_select(0, index)
        posterior = self.posterior(index)
        quality = posterior.gather(1, labels.unsqueeze(1)).squeeze(1)
        is_safe = quality >= 0.5
        highest, suggested = posterior.max(dim=1)
        is_clear = (highest >= 1 - self.epsilon) & (highest > 0) & (suggested != labels)
        is_corrected = is_clear & ~is_safe
        usable = torch.where(is_corrected, suggested, labels)
        return LabelAssessment(is_safe, is_corrected, usable, quality, suggested)

    def assess_all(self) -> LabelAssessment:
        """Return what the posterior says about all labels."""
        parts = map(self.assess, self._all_samples())
        return LabelAssessment(*map(torch.cat, zip(*parts, strict=True)))

    def _all_samples(self) -> Iterator[Tensor]:
        """Yield the positions of all samples, in blocks."""
        samples = torch.arange(len(self.labels), device=self.labels.device)
        for part in blocks(*self.probability.shape):
            yield samples[part]

    def label_quality(self) -> Tensor:
        """Return the posterior probability of each given label, without ties.

        As ``quality`` of :meth:`assess_all`, but computed from log-odds in float64, on
        the host: float32 would round the posteriors of many samples to 0 or 1.
        """
        return torch.cat(list(map(self._quality_of, self._all_samples())))

    def _quality_of(self, index: Tensor) -> Tensor:
        labels = self.labels.index_select(0, index)
        of_label = self.transition_matrix.t().index_select(0, labels)
        of_label = of_label.cpu().double().log_()
        joint = self.probability.index_select(0, index).cpu().double().log_()
        labels = labels.cpu()
        joint.mul_(self.power).add_(of_label)
        if self.evidence is not None:
            joint.add_(self.evidence.logarithm(index).cpu())
        own = joint.gather(1, labels.unsqueeze(1))
        joint.scatter_(1, labels.unsqueeze(1), -torch.inf)
        odds = own - joint.logsumexp(dim=1, keepdim=True)
        # Without any probability there are no odds, and the quality is 0.
        return torch.sigmoid(odds).nan_to_num_(nan=0.0).squeeze(1)

    def likeliest(self) -> Likeliest:
        """Return the most probable classes of every sample."""
        blocks_of_samples = self._all_samples()
        return Likeliest.joined(
            [Likeliest.of(self.posterior(i).cpu().numpy()) for i in blocks_of_samples]
        )

    def planted_errors(self) -> PlantedErrors:
        """Return what labels that are wrong on purpose tell, where anything is known.

        The probabilities must come from networks that were not trained on the label.
        """
        known = (row_sums(self.probability) > 0).nonzero().squeeze(1)
        parts = [self._of_classes(known[part]) for part in blocks(*self._shape(known))]
        values, labels = np.concatenate(parts), self.labels[known].cpu().numpy()
        transitions = self.transition_matrix.cpu().numpy()
        return planted_errors(values, transitions, labels, sharpness(values, labels))

    def _shape(self, index: Tensor) -> tuple[int, int]:
        return len(index), self.probability.shape[1]

    def _of_classes(self, index: Tensor) -> Any:
        """Return probabilities times evidence, as an array without zeros."""
        values = self.probability.index_select(0, index).float()
        if self.evidence is not None:
            values = values * self.evidence.logarithm(index).exp_()
        values /= values.sum(dim=1, keepdim=True)
        return values.clamp_(min=_MIN_PROBABILITY).cpu().numpy()

    def disagreement(self) -> float:
        """Return the fraction of labels that are not the most probable class."""
        known = self.probability.sum(dim=1) > 0
        differs = self.probability.argmax(dim=1) != self.labels
        return fraction_of(differs[known])


def count_transitions(
    probability: Tensor,
    labels: Tensor,
    *,
    confident_only: bool = False,
    damping: float = 0.0,
    shrunken: bool = False,
    evidence: Evidence | None = None,
) -> Tensor:
    """Return the transition matrix counted from probabilities of all samples.

    Parameters
    ----------
    probability, labels
        As in :class:`LabelPosterior`.
    confident_only : bool, default=False
        Count among the more confident half of each predicted class only. Prediction
        errors are otherwise counted as label noise, and correct labels of hard samples
        rejected for it.
    damping : float in [0, 1], default=0.0
        Weight of a prior by which T is moved towards "half of the labels are correct,
        the others are random", for probabilities of networks trained on the labels.
    shrunken : bool, default=False
        Shrink the wrong labels of each class towards uniform ones instead, as far as
        the counts are uniform, for out-of-fold probabilities.
    evidence : Evidence, default=None
        By which probabilities are multiplied.
    """
    if evidence is None:
        confidence, predicted = probability.max(dim=1)
    else:
        confidence, predicted = evidence.most_probable(probability)
    is_counted = confidence > 0
    if confident_only:
        known = is_counted.nonzero().squeeze(1)
        is_counted[known] = above_class_median_confidence(
            confidence[known], predicted[known]
        )
    counted = predicted[is_counted], labels[is_counted]
    n_classes = probability.shape[1]
    if shrunken:
        return shrunken_transition_matrix(*counted, n_classes)
    return counted_transition_matrix(*counted, n_classes, damping)


def multiplied(probability: Tensor, other: Tensor) -> Tensor:
    """Return products of probabilities, normalized; unknown rows remain zero.

    Parameters
    ----------
    probability, other : Tensor of shape (b, n_classes)
        Two predictions for the same samples.
    """
    product = probability.float() * other.clamp(min=_MIN_PROBABILITY)
    tiny = torch.finfo(product.dtype).tiny
    return product.div_(product.sum(dim=1, keepdim=True).clamp_(min=tiny))
