"""The derivative of each loss of a batch along a direction in parameter space."""

from collections.abc import Sequence

import torch
from torch import Tensor

#: Relative error of a sum of derivatives, also in reduced precision.
_TOLERANCE = 0.02


def derivatives_along(
    losses: Tensor, parameters: Sequence[Tensor], direction: Sequence[Tensor]
) -> Tensor:
    """Return the derivative of each loss along a direction in parameter space.

    It is the scalar product of the gradient of that loss with the direction. One
    product with the transposed Jacobian matrix is differentiated by its factor, so the
    cost is that of a few backward passes for any number of losses; but the operations
    of the network need second derivatives.

    Parameters
    ----------
    losses : Tensor of shape (b,)
        With gradients. They can be differentiated again afterwards.
    parameters, direction : sequence of Tensor
        Parameters, and a tensor of the same shape for each.
    """
    factor = torch.zeros_like(losses, requires_grad=True)
    gradients = torch.autograd.grad(
        losses, parameters, factor, create_graph=True, allow_unused=True
    )
    pairs = zip(gradients, direction, strict=True)
    product = torch.stack([(g * d).sum() for g, d in pairs if g is not None]).sum()
    return torch.autograd.grad(product, factor, retain_graph=True)[0]


def derivatives_one_by_one(
    losses: Tensor, parameters: Sequence[Tensor], direction: Sequence[Tensor]
) -> Tensor:
    """Return the same by one backward pass for each loss."""
    derivatives = []
    for loss in losses:
        gradients = torch.autograd.grad(
            loss, parameters, retain_graph=True, allow_unused=True
        )
        pairs = zip(gradients, direction, strict=True)
        terms = [(g * d).sum() for g, d in pairs if g is not None]
        derivatives.append(torch.stack(terms).sum())
    return torch.stack(derivatives)


def check_gradients(losses: Tensor, parameters: Sequence[Tensor]) -> None:
    """Raise if the gradients of single losses cannot be computed one after the other.

    A compiled module may allow one backward pass only.
    """
    try:
        torch.autograd.grad(losses[0], parameters, retain_graph=True, allow_unused=True)
    except RuntimeError as error:
        raise ValueError(
            "The weights of samples need the gradient of each loss, which the module "
            f"does not allow: {_first_line(error)}. Leave compile=True out, or use a "
            "module of layers of torch."
        ) from error


def missing_derivatives(
    losses: Tensor, parameters: Sequence[Tensor], direction: Sequence[Tensor]
) -> str | None:
    """Return why :func:`derivatives_along` cannot be used, None if it can.

    Operations without second derivatives raise an error, or are left out without a
    word, so the sum of the derivatives is compared with the derivative of the sum.
    """
    try:
        derivatives = derivatives_along(losses, parameters, direction)
    except RuntimeError as error:
        return _first_line(error)
    total = derivatives_one_by_one(losses.sum().unsqueeze(0), parameters, direction)[0]
    scale = derivatives.abs().sum() + total.abs()
    if (derivatives.sum() - total).abs() > _TOLERANCE * scale:
        return "derivatives of single losses do not add up to that of their sum"
    return None


def _first_line(error: Exception) -> str:
    return str(error).strip().split("\n")[0].rstrip(".")
