"""DivideMix: what is learned of correct labels, and of samples without one."""

import math

import torch
from torch import Tensor, nn

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
    >>> divided_targets(p, torch.tensor([1]), told).round(decimals=3).tolist()
    [[[0.003, 0.997]], [[0.9, 0.1]]]
    """
    given = nn.functional.one_hot(labels, p.shape[2]).to(p.dtype)
    told = is_correct.unsqueeze(2)
    refined = told * given + (1 - told) * p
    targets = torch.where(told > CLEAN, refined, p.mean(dim=0))
    sharp = targets ** (1 / _TEMPERATURE)
    return sharp / sharp.sum(dim=2, keepdim=True)


def semi_supervised_losses(
    outputs: Tensor,
    targets: Tensor,
    entropy: Tensor,
    is_labelled: Tensor,
    factor: float,
) -> Tensor:
    """Return the loss of each sample, the mean over its views, of shape (k, b).

    Their mean is the mean entropy of samples with a label, plus ``factor`` times the
    mean squared distance of predictions and targets of the others, plus the divergence
    of uniform classes from mean predictions.

    Parameters
    ----------
    outputs, targets : Tensor of shape (k, n_views * b, n_classes)
        Logits and class probabilities of k networks, for one view after the other.
    entropy : Tensor of shape (k, n_views * b)
        Loss of the criterion.
    is_labelled : Tensor of shape (k, b)
        Which samples have a label, for each network.
    factor : float
        Weight of samples without a label.
    """
    n_networks, n_rows = is_labelled.shape
    q = torch.softmax(outputs.float(), dim=2)
    squares = (q - targets).square().mean(dim=2)
    shape = n_networks, -1, n_rows
    entropy, squares = [x.view(shape).mean(dim=1) for x in (entropy, squares)]
    n_labelled = is_labelled.sum(dim=1, keepdim=True)
    labelled = entropy * (n_rows / n_labelled.clamp(min=1))
    guessed = squares * (factor * n_rows / (n_rows - n_labelled).clamp(min=1))
    mean = q.mean(dim=1).clamp(min=torch.finfo(q.dtype).tiny)
    divergence = -mean.log().mean(dim=1, keepdim=True) - math.log(q.shape[2])
    return torch.where(is_labelled, labelled, guessed) + divergence
