"""The gradient of the loss of validation rows, whose labels are correct."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn

from skpresto._engine.features import map_parts
from skpresto._engine.losses import sample_losses
from skpresto._engine.net import NoisyLabelNet
from skpresto._engine.rows import PredictionRows, TrainingData


class CleanGradient:
    """Compute the gradient of the mean loss of validation rows drawn at random.

    Parameters
    ----------
    net : NoisyLabelNet
        A started net with one network.
    data : TrainingData
        With validation rows. As many are drawn as a batch has, or all if there are
        fewer.
    """

    def __init__(self, net: NoisyLabelNet, data: TrainingData) -> None:
        assert data.X_valid is not None
        assert data.valid_labels is not None
        self.net = net
        self.X = data.X_valid
        self.labels = data.valid_labels

    def __call__(self) -> tuple[list[Tensor], list[Tensor]]:
        """Return the parameters in training, and the gradient for each of them.

        The network is in training mode, so that it normalizes and drops units as in the
        pass whose losses the gradient is compared with. What that pass stores in the
        network, such as running means, is not changed.
        """
        net, rows = self.net, self._drawn_rows()
        (network,) = net.networks
        parameters: list[Tensor] = [p for p in network.parameters() if p.requires_grad]
        totals = [torch.zeros_like(p) for p in parameters]
        with _copied_buffers(network):
            for features, labels in net.get_iterator(rows):
                on_device = map_parts(lambda part: part.to(net.device), features)
                losses = sample_losses(
                    net.criterion_, net.infer(on_device), labels.to(net.device)
                )
                slope = torch.full_like(losses, 1 / len(rows))
                gradients = torch.autograd.grad(
                    losses, parameters, slope, allow_unused=True, materialize_grads=True
                )
                for total, gradient in zip(totals, gradients, strict=True):
                    total += gradient
        return parameters, totals

    def _drawn_rows(self) -> PredictionRows:
        n_rows = self.net.batch_size
        if n_rows >= len(self.X):
            return PredictionRows(self.X, labels=self.labels)
        drawn = torch.randperm(len(self.X))[:n_rows]
        return PredictionRows(self.X, drawn, self.labels[drawn])


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
