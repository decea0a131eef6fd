"""The gradient of the loss of validation rows, whose labels are correct."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn

from skpresto._data.features import on_device
from skpresto._data.training_data import PredictionRows
from skpresto._networks.forward import sample_losses
from skpresto._networks.net import NoisyLabelNet


class CleanGradient:
    """Compute the gradient of the mean loss of validation rows drawn at random.

    Parameters
    ----------
    net : NoisyLabelNet
        A started net with one network.
    rows : PredictionRows
        Validation rows with their labels. As many are drawn as a batch has, or all if
        there are fewer.
    weights : Tensor of shape (n_rows,), default=None
        Weights of the rows in the mean; None means equal weights.
    """

    def __init__(
        self, net: NoisyLabelNet, rows: PredictionRows, weights: Tensor | None = None
    ) -> None:
        self.net = net
        self.rows = rows
        self.weights = torch.ones(len(rows)) if weights is None else weights

    def __call__(self) -> tuple[list[Tensor], list[Tensor]]:
        """Return the parameters in training, and the gradient for each of them.

        The network is in training mode, so that it normalizes and drops units as in the
        pass whose losses the gradient is compared with. What that pass stores in the
        network, such as running means, is not changed.
        """
        net, drawn = self.net, self._draw()
        (network,) = net.networks
        parameters: list[Tensor] = [p for p in network.parameters() if p.requires_grad]
        totals = [torch.zeros_like(p, dtype=_at_least_single(p)) for p in parameters]
        weights = self.weights[drawn]
        weights = on_device(weights / weights.sum(), net.device)
        n_before = 0
        with _copied_buffers(network):
            for features, labels in net.get_iterator(self._rows_at(drawn)):
                outputs = net.infer(on_device(features, net.device))
                labels = on_device(labels, net.device)
                losses = sample_losses(net.criterion_, outputs, labels)
                slope = weights[n_before : n_before + len(losses)].to(losses.dtype)
                n_before += len(losses)
                gradients = torch.autograd.grad(
                    losses, parameters, slope, allow_unused=True, materialize_grads=True
                )
                for total, gradient in zip(totals, gradients, strict=True):
                    total += gradient
        return parameters, totals

    def _draw(self) -> Tensor:
        """Return the positions of the validation rows of a step."""
        n_rows, n_drawn = len(self.rows), self.net.batch_size
        if n_drawn < n_rows:
            return torch.randperm(n_rows)[:n_drawn]
        return torch.arange(n_rows)

    def _rows_at(self, drawn: Tensor) -> PredictionRows:
        rows = self.rows
        assert rows.labels is not None
        positions = drawn if rows.rows is None else rows.rows[drawn]
        return PredictionRows(rows.X, positions, rows.labels[drawn])


@contextmanager
def _copied_buffers(network: nn.Module) -> Iterator[None]:
    """Let a network work on copies of its buffers.

    A forward pass that is waiting for its backward pass refers to the buffers, so they
    must not even be changed and put back.
    """
    places = [
        (part._buffers, name, buffer)
        for part in network.modules()
        for name, buffer in part._buffers.items()
        if buffer is not None
    ]
    for buffers, name, buffer in places:
        buffers[name] = buffer.clone()
    try:
        yield
    finally:
        for buffers, name, buffer in places:
            buffers[name] = buffer


def _at_least_single(parameter: Tensor) -> torch.dtype:
    """Return the type in which gradients are added up, also in half precision."""
    return torch.promote_types(parameter.dtype, torch.float32)
