"""From the losses of a mini-batch to a step of the optimizer, or to none.

A network for which nothing was selected must not change: neither its weights nor the
optimizer state nor the statistics of BatchNorm.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from skpresto._networks.stack import networks_of


class Step:
    """Take an optimizer step in every batch.

    Parameters
    ----------
    module : nn.Module
        One network, or a stack of them.
    optimizer : Optimizer
        Over the parameters of all networks.
    on_gradients : callable, default=None
        Called with the batch when its gradients are computed, before they are used.
    scaler : GradScaler, default=None
        Scales losses up so that gradients in float16 do not become zero.
    """

    def __init__(
        self,
        module: nn.Module,
        optimizer: Optimizer,
        on_gradients: Callable[[Any], None] | None = None,
        scaler: Any = None,
    ) -> None:
        self.networks = networks_of(module)
        self.optimizer = optimizer
        self.on_gradients = on_gradients
        self.scaler = scaler
        groups = optimizer.param_groups
        self._parameters = [p for group in groups for p in group["params"]]
        self._equal: Tensor | None = None

    def begin(self) -> None:
        """Prepare for a forward pass."""
        # As optimizer.zero_grad(), without its profiling of each call.
        for parameter in self._parameters:
            parameter.grad = None

    def learn(self, losses: Tensor, weights: Tensor | None, batch: Any = None) -> None:
        """Learn from the mean loss of each network.

        Parameters
        ----------
        losses : Tensor of shape (k * b,)
            Loss of each sample, for one network after the other.
        weights : Tensor of shape (k, b), or None
            Weights of the samples in the mean; None means equal weights.
        batch : object
            Passed to ``on_gradients``.
        """
        if weights is None:
            self._descend(losses, self._equal_weights(losses), batch)
        else:
            self._learn_weighted(losses, weights, batch)

    def _equal_weights(self, losses: Tensor) -> Tensor:
        """Return the weights of a plain mean; they are reused for further batches."""
        if self._equal is None or len(self._equal) != len(losses):
            n_samples = len(losses) // len(self.networks)
            self._equal = torch.full_like(losses, 1 / n_samples)
        return self._equal

    def _learn_weighted(self, losses: Tensor, weights: Tensor, batch: Any) -> None:
        self._descend(losses, weights / _totals(weights), batch)

    def _descend(self, losses: Tensor, weights: Tensor, batch: Any) -> None:
        # The weights are the gradient of the mean, so backward() can start from them.
        # The mean itself is not needed before the end of the epoch.
        slope = weights if weights.dim() == 1 else weights.view(-1)
        if self.scaler is None:
            self._backward(losses, slope)
        else:
            self._backward(losses, self.scaler.scale(slope))
            self.scaler.unscale_(self.optimizer)
        self._adjust_gradients()
        if self.on_gradients is not None:
            self.on_gradients(batch)
        if self.scaler is None:
            self.optimizer.step()
        else:  # skips the step if gradients are not finite, and then scales less
            self.scaler.step(self.optimizer)
            self.scaler.update()

    def _backward(self, losses: Tensor, slope: Tensor) -> None:
        """Compute the gradients."""
        losses.backward(slope)

    def _adjust_gradients(self) -> None:
        """Change the gradients before callbacks and optimizer see them."""


class StepIfSelected(Step):
    """Skip the step of networks for which nothing is selected.

    The selection is read in every batch, so on a GPU each batch waits for the device.
    """

    def __init__(
        self,
        module: nn.Module,
        optimizer: Optimizer,
        on_gradients: Callable[[Any], None] | None = None,
        scaler: Any = None,
    ) -> None:
        super().__init__(module, optimizer, on_gradients, scaler)
        # A forward pass in training mode changes these, for example in BatchNorm.
        self._buffers = [list(network.buffers()) for network in self.networks]
        self._before: list[list[Tensor]] = []
        self._idle: list[int] = []

    def begin(self) -> None:
        """Prepare for a forward pass that may have to be undone."""
        super().begin()
        self._before = [[b.clone() for b in buffers] for buffers in self._buffers]

    def _learn_weighted(self, losses: Tensor, weights: Tensor, batch: Any) -> None:
        totals = _totals(weights)
        self._idle = _without_weight(totals)
        if not self._idle:
            self._descend(losses, weights / totals, batch)
            return
        if len(self._idle) < len(self.networks):
            self._descend(losses, weights / totals.where(totals > 0, 1), batch)
        for position in self._idle:
            self._undo_forward(position)

    def _undo_forward(self, position: int) -> None:
        buffers, before = self._buffers[position], self._before[position]
        for buffer, value in zip(buffers, before, strict=True):
            buffer.copy_(value)

    def _adjust_gradients(self) -> None:
        for position in self._idle:
            # With a gradient of zero, momentum and weight decay would still change the
            # weights; without a gradient, the optimizer skips them.
            self.networks[position].zero_grad(set_to_none=True)


class StepUnlessEmpty(StepIfSelected):
    """Skip the step if nothing is selected, without waiting for the device.

    The fused optimizers skip a step if the tensor ``found_inf`` is 1. It exists for
    mixed precision, where ``GradScaler`` skips steps with infinite gradients in the
    same way. For one network only.
    """

    @staticmethod
    def serves(
        module: nn.Module,
        optimizer: Optimizer,
        on_gradients: Any = None,
        scaler: Any = None,
    ) -> bool:
        """Return whether steps can be skipped this way."""
        if scaler is not None:  # which itself uses found_inf
            return False
        is_able = getattr(optimizer, "_step_supports_amp_scaling", False)
        is_dampened = any(group.get("dampening") for group in optimizer.param_groups)
        return is_able and not is_dampened and len(networks_of(module)) == 1

    def _learn_weighted(self, losses: Tensor, weights: Tensor, batch: Any) -> None:
        total = _totals(weights)
        is_empty = total == 0
        self.optimizer.found_inf = is_empty.to(torch.float32)  # type: ignore[attr-defined]
        try:
            self._descend(losses, weights / (total + is_empty), batch)
        finally:
            del self.optimizer.found_inf  # type: ignore[attr-defined]
        for buffer, before in zip(self._buffers[0], self._before[0], strict=True):
            buffer.copy_(torch.where(is_empty, before, buffer))


def _totals(weights: Tensor) -> Tensor:
    """Return the sum of the weights of each network."""
    return weights.sum() if weights.shape[0] == 1 else weights.sum(dim=1, keepdim=True)


def _without_weight(totals: Tensor) -> list[int]:
    """Return the networks whose weights are all zero. Waits for the device."""
    if totals.dim() == 0:
        return [] if totals.item() > 0 else [0]
    numbers = totals.view(-1).tolist()
    return [position for position, total in enumerate(numbers) if not total > 0]


def unfuse_half_precision(optimizer: Optimizer) -> None:
    """Turn fused steps off for parameters in half precision on the CPU.

    There, torch's fused SGD leaves all but the smallest of them unchanged (seen in
    torch 2.13).
    """
    for group in optimizer.param_groups:
        if any(p.dtype.itemsize < 4 and p.is_cpu for p in group["params"]):
            group["fused"] = False


def begin_momentum(optimizer: Optimizer) -> None:
    """Initialize the momentum of a fused SGD with zeros.

    SGD creates momentum buffers in the first step. A fused step fails if only some
    parameters have one, as after a step without the parameters of an idle network, and
    a skipped first step creates them from uninitialized memory. With zeros, the first
    step has the same result, unless it is dampened.
    """
    if not isinstance(optimizer, torch.optim.SGD):
        return
    for group in optimizer.param_groups:
        if group["fused"] and group["momentum"] and not group["dampening"]:
            for parameter in group["params"]:
                zero = torch.zeros_like(parameter, requires_grad=False)
                optimizer.state[parameter]["momentum_buffer"] = zero
