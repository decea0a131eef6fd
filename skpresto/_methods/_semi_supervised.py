"""DivideMix: what is learned of correct labels, and of samples without one."""

from collections.abc import Callable

import torch
from torch import Tensor, nn

from skpresto._data.mixup import Mixed
from skpresto._training.trainer import Trainer

#: Probability above which a label is taken for correct.
CLEAN = 0.5
#: Targets are sharpened by the power 1 / temperature.
_TEMPERATURE = 0.5


def divided_targets(p: Tensor, labels: Tensor, is_correct: Tensor) -> Tensor:
    """Return what each network learns: refined labels, or guesses of both networks.

    Parameters
    ----------
    p : Tensor of shape (2, b, n_classes)
        Predicted probabilities of each network.
    labels : Tensor of shape (b,)
        Given labels.
    is_correct : Tensor of shape (2, b)
        Their probability of being correct, as each network is told. Above one half,
        the label is refined: mixed with what the network itself predicts.

    Examples
    --------
    >>> p = torch.tensor([[[0.5, 0.5]], [[1.0, 0.0]]])
    >>> told = torch.tensor([[0.9], [0.2]])
    >>> (1000 * divided_targets(p, torch.tensor([1]), told)).round().tolist()
    [[[3.0, 997.0]], [[900.0, 100.0]]]
    """
    given = nn.functional.one_hot(labels, p.shape[2]).to(p.dtype)
    told = is_correct.unsqueeze(2)
    refined = told * given + (1 - told) * p
    targets = torch.where(told > CLEAN, refined, p.mean(dim=0))
    sharp = targets ** (1 / _TEMPERATURE)
    return sharp / sharp.sum(dim=2, keepdim=True)


def semi_supervised_losses(
    losses_of: Callable[[Tensor, Tensor], Tensor],
    mixed: Mixed,
    targets: Tensor,
    is_labelled: Tensor,
    factor: float,
    prior: Tensor,
) -> Tensor:
    """Return the loss of each sample, the mean over its views, of shape (k, b).

    Their mean is the mean criterion of samples with a label, plus ``factor`` times the
    mean squared distance of predictions and targets of the others, plus the divergence
    of the prior from mean predictions.

    Parameters
    ----------
    losses_of : callable
        Maps logits and targets, not mixed, to one loss per sample.
    mixed : Mixed
        The outputs of k networks for mixed samples, for one view after the other.
    targets : Tensor of shape (k, n_views * b, n_classes)
        Class probabilities to learn, of the samples before they are mixed.
    is_labelled : Tensor of shape (k, b)
        Which samples have a label, for each network.
    factor : float
        Weight of samples without a label.
    prior : Tensor of shape (n_classes,)
        Frequency of each class.
    """
    n_networks, n_rows = is_labelled.shape
    n_views = targets.shape[1] // n_rows
    q = torch.softmax(mixed.logits.float(), dim=2)
    distance = (q - mixed.mean(targets, targets[:, mixed.partners])).square()
    n_labelled = is_labelled.sum(dim=1, keepdim=True)
    labelled = is_labelled * (n_rows / n_labelled.clamp(min=1))
    guessed = ~is_labelled * (factor * n_rows / (n_rows - n_labelled).clamp(min=1))
    losses = mixed.losses(losses_of, targets, labelled.repeat(1, n_views))
    losses = losses + guessed.repeat(1, n_views) * distance.mean(dim=2)
    mean = q.mean(dim=1, keepdim=True).clamp(min=torch.finfo(q.dtype).tiny)
    divergence = (torch.xlogy(prior, prior) - prior * mean.log()).sum(dim=2)
    return losses.view(n_networks, n_views, n_rows).mean(dim=1) + divergence


def class_frequencies(trainer: Trainer) -> Tensor:
    """Return the frequency of each class among given labels, by weight."""
    counts = trainer.labels.bincount(trainer.sample_weight, trainer.data.n_classes)
    return (counts / counts.sum()).float()
