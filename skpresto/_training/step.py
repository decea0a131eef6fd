"""From the losses of a mini-batch to a step of the optimizer, or to none.

A network for which nothing was selected must not change: neither its weights nor the
optimizer state nor the statistics of BatchNorm.
"""

from typing import Any

import torch
from torch import Tensor

from skpresto._networks.net import NoisyLabelNet


class Step:
    """Apply the networks to a batch, and take an optimizer step.

    Parameters
    ----------
    net : NoisyLabelNet
        A started net. Losses are scaled up by its ``scaler_``, if it has one, so that
        gradients in float16 do not become zero.
    """

    def __init__(self, net: NoisyLabelNet) -> None:
        self.net = net
        self.networks = net.networks
        self.optimizer: Any = net.optimizer_
        self.scaler = net.scaler_
        self._tells_gradients = net.has_gradient_callbacks
        self._parameters: list[Tensor] = []
        for group in self.optimizer.param_groups:
            self._parameters += group["params"]
        self._equal: Tensor | None = None

    def forward(self, features: Any, n_rows: int) -> Tensor:
        """Return the outputs of the networks in training mode.

        Parameters
        ----------
        features : Tensor, or dict or tuple of tensors
            Of the rows of this process.
        n_rows : int
            Number of rows of the whole batch.
        """
        # As optimizer.zero_grad(), without its profiling of each call.
        for parameter in self._parameters:
            parameter.grad = None
        try:
            return self._infer(features, n_rows)
        except ValueError as error:
            _raise_for_single_rows(error, n_rows)
            raise

    def _infer(self, features: Any, n_rows: int) -> Tensor:
        return self.net.infer(features)

    def learn(self, losses: Tensor, weights: Tensor | None, batch: Any = None) -> None:
        """Learn from the mean loss of each network.

        Parameters
        ----------
        losses : Tensor of shape (k * b,)
            Loss of each sample, for one network after the other.
        weights : Tensor of shape (k, b), or None
            Weights of the samples in the mean; None means equal weights.
        batch : tuple, default=None
            Features and labels, for callbacks.
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
        slope = weights if weights.dim() == 1 else weights.reshape(-1)
        if self.scaler is None:
            losses.backward(slope)
        else:
            losses.backward(self.scaler.scale(slope))
        self._end_backward()
        if self.scaler is not None:
            self.scaler.unscale_(self.optimizer)
        self._adjust_gradients()
        if self._tells_gradients:
            self.net.notify_gradients(batch)
        if self.scaler is None:
            self.optimizer.step()
        else:  # skips the step if gradients are not finite, and then scales less
            self.scaler.step(self.optimizer)
            self.scaler.update()

    def _end_backward(self) -> None:
        """Complete the gradients, which are those of the rows of this process."""

    def _adjust_gradients(self) -> None:
        """Change the gradients before callbacks and optimizer see them."""


class StepIfSelected(Step):
    """Skip the step of networks for which nothing is selected.

    The selection is read in every batch, so on a GPU each batch waits for the device.
    """

    def __init__(self, net: NoisyLabelNet) -> None:
        super().__init__(net)
        # A forward pass in training mode changes these, for example in BatchNorm.
        self._buffers: list[list[Tensor]] = []
        for network in self.networks:
            self._buffers.append(list(network.buffers()))
        self._before: list[list[Tensor]] = []
        self._idle: list[int] = []

    def forward(self, features: Any, n_rows: int) -> Tensor:
        """Return the outputs of a forward pass that may have to be undone."""
        self._before.clear()
        for buffers in self._buffers:
            self._before.append(list(map(torch.clone, buffers)))
        return super().forward(features, n_rows)

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
    def serves(net: NoisyLabelNet) -> bool:
        """Return whether steps can be skipped this way."""
        if net.scaler_ is not None:  # which itself uses found_inf
            return False
        is_able = getattr(net.optimizer_, "_step_supports_amp_scaling", False)
        groups = net.optimizer_.param_groups
        is_dampened = any(group.get("dampening") for group in groups)
        return is_able and not is_dampened and len(net.networks) == 1

    def _learn_weighted(self, losses: Tensor, weights: Tensor, batch: Any) -> None:
        total = _totals(weights)
        is_empty = total == 0
        self.optimizer.found_inf = is_empty.to(torch.float32)
        try:
            self._descend(losses, weights / (total + is_empty), batch)
        finally:
            del self.optimizer.found_inf
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


def _raise_for_single_rows(error: ValueError, n_rows: int) -> None:
    """Explain BatchNorm's error for a batch of one row."""
    if n_rows == 1 and "more than 1 value per channel" in str(error):
        raise ValueError(
            "module has BatchNorm layers, which cannot be trained on a batch of one "
            "row, whose variance is zero. Use a batch_size of 2 or more (and a sampler "
            "without batches of one row), or LayerNorm instead."
        ) from error
