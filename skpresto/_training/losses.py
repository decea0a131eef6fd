"""One loss a sample, for each network."""

from collections.abc import Callable

from torch import Tensor


def sample_losses(criterion: Callable, outputs: Tensor, labels: Tensor) -> Tensor:
    """Return the loss of each sample, for one network after the other.

    Parameters
    ----------
    criterion : callable
        Takes logits and class numbers, and returns one loss a sample.
    outputs : Tensor of shape (b, c) or (k, b, c)
        Logits of one network, or of k of them.
    labels : Tensor of shape (b,) or (k, b)
        Class numbers, the same for all networks or not.

    Returns
    -------
    losses : Tensor of shape (b,) or (k * b,)
        To be seen as (k, b).
    """
    if outputs.dim() == 2:
        losses = criterion(outputs, labels.view(len(outputs)))
    else:
        labels = labels.expand(outputs.shape[:2])
        losses = criterion(outputs.flatten(0, 1), labels.flatten())
    expected = outputs.shape[:-1].numel()
    if losses.shape != (expected,):
        raise ValueError(
            f"criterion must return one loss a sample, here of shape ({expected},); "
            f"{type(criterion).__name__} returned {tuple(losses.shape)}. Use one that "
            "takes reduction='none'."
        )
    return losses
