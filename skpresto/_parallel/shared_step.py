"""Steps of the optimizer with gradients of several processes."""

from typing import Any

import torch
from torch import Tensor

from skpresto._data.batch import View
from skpresto._networks.net import NoisyLabelNet
from skpresto._parallel.exchange import Exchange
from skpresto._parallel.gradients import GradientSum
from skpresto._parallel.shares import WholeBatch, share_of
from skpresto._training.step import Step


class ParallelStep(Step):
    """Add up the gradients of all processes before a step.

    They are added up exactly once per batch, even if nothing is selected in it, so that
    a process that fails knows what the others are waiting for.

    Parameters
    ----------
    net : NoisyLabelNet
        A started net. Parameters of its criterion may be trained too.
    n_classes : int
        Number of classes.
    exchange : Exchange
        The processes.
    """

    def __init__(self, net: NoisyLabelNet, n_classes: int, exchange: Exchange) -> None:
        super().__init__(net, may_skip=True)
        self._infer = self._outputs_of_all
        self._n_classes = n_classes
        self._exchange = exchange
        buffers = [b for network in self._buffers for b in network]
        self._is_averaged = [b.is_floating_point() for b in buffers]
        averaged = [b for b in buffers if b.is_floating_point()]
        complete = net.criterion_.parameters()
        self._sum = GradientSum(exchange, self._parameters, complete, averaged)
        self._fraction = 0.0

    def view(self, features: Any, n_rows: int) -> View:
        """Return a function that applies the networks once more to a batch.

        Of a batch without own rows there is nothing to change.
        """
        applied = super().view(features, n_rows)
        share = share_of(n_rows, self._exchange.rank, self._exchange.size)
        if share.start < share.stop:
            return applied
        return lambda change: applied(lambda nothing: nothing)

    def _outputs_of_all(self, features: Any, n_rows: int) -> Tensor:
        """Return the outputs for a batch, of whose features only the own are given."""
        exchange = self._exchange
        share = share_of(n_rows, exchange.rank, exchange.size)
        n_own = share.stop - share.start
        own = self.net.infer(features) if n_own else self._no_outputs()
        outputs = WholeBatch.apply(own, exchange, n_rows)
        # Gradients will be added up after the backward pass.
        self._fraction = n_own / n_rows
        exchange.due = self._sum.fail
        return outputs

    def _no_outputs(self) -> Tensor:
        """Return the outputs for no rows, so that a backward pass is possible."""
        n_networks = len(self.networks)
        leading = (n_networks,) if n_networks > 1 else ()
        shape = (*leading, 0, self._n_classes)
        return torch.zeros(shape, device=self.net.device, requires_grad=True)

    def _end_backward(self) -> None:
        self._add_up()
        super()._end_backward()

    def _end_step(self) -> None:
        super()._end_step()
        if self._exchange.due is not None:  # nothing was selected
            self._add_up()

    def _add_up(self) -> None:
        values = [value for network in self._before for value in network]
        pairs = zip(values, self._is_averaged, strict=True)
        before = [value for value, is_averaged in pairs if is_averaged]
        self._sum.add_up(before, self._fraction)
