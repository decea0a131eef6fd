"""One loss per sample, for each network."""

from collections.abc import Callable

from torch import Tensor


def sample_losses(criterion: Callable, outputs: Tensor, targets: Tensor) -> Tensor:
    """Return the loss of each sample, for one network after the other.

    Parameters
    ----------
    criterion : callable
        Maps logits and targets to one loss per sample.
    outputs : Tensor of shape (b, n_classes) or (k, b, n_classes)
        Logits of one network, or of k networks.
    targets : Tensor
        Class numbers, of an integer dtype and of shape (b,) or (k, b), or class
        probabilities, of a floating-point dtype and of shape (b, n_classes) or
        (k, b, n_classes). Without the axis k they are the same for all networks.

    Returns
    -------
    losses : Tensor of shape (b,) or (k * b,)
        To be viewed as (k, b).
    """
    shape = outputs.shape if targets.is_floating_point() else outputs.shape[:-1]
    if outputs.dim() == 2:
        losses = criterion(outputs, targets.view(shape))
    else:
        targets = targets.expand(shape)
        losses = criterion(outputs.flatten(0, 1), targets.flatten(0, 1))
    check_one_per_sample(criterion, losses, outputs.shape[:-1].numel())
    return losses


def check_one_per_sample(criterion: Callable, losses: Tensor, expected: int) -> None:
    """Raise if there is not one loss per sample."""
    shape = getattr(losses, "shape", type(losses).__name__)
    if shape != (expected,):
        got = shape if isinstance(shape, str) else tuple(shape)
        raise ValueError(
            f"criterion must return one loss per sample, here of shape ({expected},); "
            f"{type(criterion).__name__} returned {got}. Use one that takes "
            "reduction='none'."
        )
