"""From the losses of a mini-batch to a step of the optimizer, or to none.

A network for which nothing was selected must not change: neither its weights nor the
optimizer state nor the statistics of BatchNorm.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from skpresto._data.batch import View
from skpresto._data.features import copied, map_parts
from skpresto._networks.net import NoisyLabelNet


class Step:
    """Apply the networks to a batch, and take an optimizer step.

    Parameters
    ----------
    net : NoisyLabelNet
        A started net. Losses are scaled up by its ``scaler_``, if it has one, so that
        gradients in float16 do not become zero.
    may_skip : bool
        Whether the step of networks for which nothing is selected is skipped. The
        selection is then read in every batch, so on a GPU each waits for the device.
    """

    def __init__(self, net: NoisyLabelNet, may_skip: bool) -> None:
        self.net = net
        self.may_skip = may_skip
        self.networks = net.networks
        self.optimizer: Any = net.optimizer_
        self.scaler = net.scaler_
        self._tells_gradients = net.is_heard("on_grad_computed")
        self._parameters: list[Tensor] = []
        for group in self.optimizer.param_groups:
            self._parameters += group["params"]
        # A forward pass in training mode changes these, for example in BatchNorm.
        self._buffers = [list(network.buffers()) for network in self.networks]
        self._before: list[list[Tensor]] = []
        self._idle: list[int] = []
        self._equal: Tensor | None = None
        self._take_step: Callable[[], Any] = self.optimizer.step
        self._infer: Callable[[Any, int], Tensor] = lambda X, n_rows: net.infer(X)

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
        if self.may_skip:  # the forward pass may have to be undone
            self._before = [list(map(torch.clone, own)) for own in self._buffers]
        try:
            return self._infer(features, n_rows)
        except ValueError as error:
            _raise_for_single_rows(error, n_rows)
            raise

    def view(self, features: Any, n_rows: int) -> View:
        """Return a function that applies the networks once more to a batch.

        It is made before the first time, in which a module may work in place.
        """
        kept = map_parts(copied, features)

        def applied(change: Callable[[Any], Any]) -> Tensor:
            outputs = self._infer(change(kept), n_rows)
            return outputs.reshape(-1, *outputs.shape[-2:])

        return applied

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
        slope = self._slope(losses, weights)
        if slope is not None:
            # The weights are the gradient of the mean, so backward() can start from
            # them. The mean itself is not needed before the end of the epoch.
            slope = slope.flatten()
            losses.backward(slope if self.scaler is None else self.scaler.scale(slope))
            self._end_backward()
            if self._tells_gradients:
                self.net.notify_gradients(batch)
            if self.scaler is None:
                self._take_step()
            else:  # skips the step if gradients are not finite, and then scales less
                self.scaler.step(self.optimizer)
                self.scaler.update()
        self._end_step()

    def _slope(self, losses: Tensor, weights: Tensor | None) -> Tensor | None:
        """Return the weight of each loss in the mean; None if there is no step."""
        self._idle = []
        if weights is None:  # equal weights are reused for further batches
            if self._equal is None or len(self._equal) != len(losses):
                n_samples = len(losses) // len(self.networks)
                self._equal = torch.full_like(losses, 1 / n_samples)
            return self._equal
        totals = _totals(weights)
        if not self.may_skip:
            return weights / totals
        self._idle = _without_weight(totals)
        if not self._idle:
            return weights / totals
        if len(self._idle) == len(self.networks):
            return None
        return weights / totals.where(totals > 0, 1)

    def _end_backward(self) -> None:
        """Change the gradients before callbacks and optimizer see them."""
        if self.scaler is not None:
            self.scaler.unscale_(self.optimizer)
        for position in self._idle:
            # With a gradient of zero, momentum and weight decay would still change the
            # weights; without a gradient, the optimizer skips them.
            self.networks[position].zero_grad(set_to_none=True)

    def _end_step(self) -> None:
        """Undo the forward pass of networks without a step."""
        for position in self._idle:
            pairs = zip(self._buffers[position], self._before[position], strict=True)
            for buffer, before in pairs:
                buffer.copy_(before)


class StepUnlessEmpty(Step):
    """Skip the step if nothing is selected, without waiting for the device.

    The fused optimizers skip a step if the tensor ``found_inf`` is 1. It exists for
    mixed precision, where ``GradScaler`` skips steps with infinite gradients in the
    same way. Of several networks, each takes a step of its own.
    """

    _is_empty: Tensor | None = None

    def __init__(self, net: NoisyLabelNet) -> None:
        super().__init__(net, may_skip=True)
        self._take_step = self._step_unless_empty
        owned = [set(map(id, network.parameters())) for network in self.networks]
        groups = [group["params"] for group in self.optimizer.param_groups]
        #: For each network, its parameters in each group of the optimizer.
        self._own = [[[p for p in g if id(p) in own] for g in groups] for own in owned]

    @staticmethod
    def serves(net: NoisyLabelNet) -> bool:
        """Return whether steps can be skipped this way."""
        if net.scaler_ is not None:  # which itself uses found_inf
            return False
        is_able = getattr(net.optimizer_, "_step_supports_amp_scaling", False)
        groups = net.optimizer_.param_groups
        is_dampened = any(group.get("dampening") for group in groups)
        # Parameters of the criterion belong to no network.
        is_owned = len(net.networks) == 1 or not any(net.criterion_.parameters())
        return is_able and not is_dampened and is_owned

    def _slope(self, losses: Tensor, weights: Tensor | None) -> Tensor | None:
        if weights is None:
            return super()._slope(losses, None)
        total = _totals(weights)
        self._is_empty = (total == 0).view(-1)
        # Weights of 0 remain 0, whatever they are divided by.
        return weights / total.clamp(min=torch.finfo(total.dtype).tiny)

    def _step_unless_empty(self) -> None:
        if self._is_empty is None:
            self.optimizer.step()
            return
        found_inf = self._is_empty.to(torch.float32)
        groups = self.optimizer.param_groups
        before = [group["params"] for group in groups]
        each = [before] if len(self.networks) == 1 else self._own
        try:
            for params, skips in zip(each, found_inf, strict=True):
                for group, own in zip(groups, params, strict=True):
                    group["params"] = own
                self.optimizer.found_inf = skips
                self.optimizer.step()
        finally:
            for group, params in zip(groups, before, strict=True):
                group["params"] = params
            del self.optimizer.found_inf

    def _end_step(self) -> None:
        """Undo the forward pass of networks whose step was skipped."""
        if self._is_empty is None:
            return
        each = zip(self._buffers, self._before, self._is_empty, strict=True)
        for buffers, stored, skips in each:
            for buffer, before in zip(buffers, stored, strict=True):
                buffer.copy_(torch.where(skips, before, buffer))
        self._is_empty = None


def _totals(weights: Tensor) -> Tensor:
    """Return the sum of the weights of each network."""
    return weights.sum() if weights.shape[0] == 1 else weights.sum(dim=1, keepdim=True)


def _without_weight(totals: Tensor) -> list[int]:
    """Return the networks whose weights are all zero. Waits for the device."""
    if totals.dim() == 0:
        return [] if totals.item() > 0 else [0]
    return (~(totals.view(-1) > 0)).nonzero().squeeze(1).tolist()


def _raise_for_single_rows(error: ValueError, n_rows: int) -> None:
    """Explain BatchNorm's error for a batch of one row."""
    if n_rows == 1 and "more than 1 value per channel" in str(error):
        raise ValueError(
            "module has BatchNorm layers, which cannot be trained on a batch of one "
            "row, whose variance is zero. Use a batch_size of 2 or more (and a sampler "
            "without batches of one row), or LayerNorm instead."
        ) from error
