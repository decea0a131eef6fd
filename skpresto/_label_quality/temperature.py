"""Temperature scaling of probabilities, fitted to labels of which some are wrong."""

import torch
from torch import Tensor

from skpresto._label_quality.blocks import blocks
from skpresto._label_quality.transitions import (
    above_class_median_confidence,
    shrunken_transition_matrix,
)

# Temperatures that flatten probabilities, from 1 to 4. Values below 1 often fit better
# but reject correct labels of samples that are hard to learn.
_TEMPERATURES = [2 ** (step / 10) for step in range(21)]
# Likelihoods that differ by less count as equal, and the lowest temperature is chosen.
_TOLERANCE = 1e-6


def scale_temperature(logits: Tensor, labels: Tensor, is_known: Tensor) -> Tensor:
    """Convert logits, in place, to probabilities that fit the labels best.

    Parameters
    ----------
    logits : Tensor of shape (n_samples, n_classes)
        Logarithms of probabilities.
    labels : Tensor of shape (n_samples,)
        Given labels. Their likelihood accounts for label noise.
    is_known : Tensor of shape (n_samples,), dtype=bool
        Rows of other samples become zero.

    Returns
    -------
    probability : Tensor of shape (n_samples, n_classes)
        ``logits``, after softmax with the temperature of the highest likelihood.
    """
    is_known = is_known.unsqueeze(1)
    likelihoods = _likelihoods(logits, labels, is_known)
    enough = max(likelihoods) - _TOLERANCE
    fitting = zip(_TEMPERATURES, likelihoods, strict=True)
    temperature = next(t for t, likelihood in fitting if likelihood >= enough)
    for part in blocks(*logits.shape):
        scaled = torch.softmax(logits[part].float() / temperature, dim=1)
        logits[part] = scaled.mul_(is_known[part])
    return logits


def _likelihoods(logits: Tensor, labels: Tensor, is_known: Tensor) -> list[float]:
    """Return the mean log-likelihood of the labels for each temperature."""
    of_label = _unscaled_transitions(logits, labels, is_known).t()
    shape = len(_TEMPERATURES), len(labels)
    likelihood = torch.empty(shape, dtype=torch.float32, device=logits.device)
    for part in blocks(*logits.shape):
        weights = of_label.index_select(0, labels[part]).mul_(is_known[part])
        for row, temperature in zip(likelihood, _TEMPERATURES, strict=True):
            probability = torch.softmax(logits[part].float() / temperature, dim=1)
            row[part] = probability.mul_(weights).sum(dim=1)
    tiny = torch.finfo(likelihood.dtype).tiny
    return [row.clamp_(min=tiny).log_().mean().item() for row in likelihood]


def _unscaled_transitions(logits: Tensor, labels: Tensor, is_known: Tensor) -> Tensor:
    """Return the transition matrix counted without temperature scaling.

    It is that of :class:`~skpresto._label_quality.posterior.LabelPosterior`, counted
    among the more confident half of each predicted class. Counted among all samples,
    errors of the networks would count as label noise, and overconfident probabilities
    would seem to fit.
    """
    confidence = torch.empty(len(labels), dtype=torch.float32, device=logits.device)
    predicted = torch.empty_like(labels)
    for part in blocks(*logits.shape):
        probability = torch.softmax(logits[part].float(), dim=1).mul_(is_known[part])
        confidence[part], predicted[part] = probability.max(dim=1)
    known = (confidence > 0).nonzero().squeeze(1)
    is_counted = above_class_median_confidence(confidence[known], predicted[known])
    counted = known[is_counted]
    return shrunken_transition_matrix(
        predicted[counted], labels[counted], logits.shape[1]
    )
