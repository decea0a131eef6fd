"""Steps of the optimizer with gradients of several processes."""

from collections.abc import Callable
from typing import Any

from torch import Tensor, nn
from torch.optim import Optimizer

from skpresto._parallel.exchange import Exchange
from skpresto._parallel.gradients import GradientSum
from skpresto._training.step import StepIfSelected


class ParallelStep(StepIfSelected):
    """Add up the gradients of all processes before a step.

    They are added up exactly once per batch, even if nothing is selected in it, so that
    a process that fails knows what the others are waiting for.

    Parameters
    ----------
    module, optimizer, on_gradients, scaler
        As in :class:`~skpresto._training.step.Step`.
    criterion : nn.Module
        Its parameters may be trained too.
    exchange : Exchange
        The processes.
    """

    def __init__(
        self,
        module: nn.Module,
        optimizer: Optimizer,
        on_gradients: Callable[[Any], None] | None,
        scaler: Any,
        *,
        criterion: nn.Module,
        exchange: Exchange,
    ) -> None:
        super().__init__(module, optimizer, on_gradients, scaler)
        self._exchange = exchange
        buffers = [b for network in self._buffers for b in network]
        self._is_averaged = [b.is_floating_point() for b in buffers]
        averaged = [b for b in buffers if b.is_floating_point()]
        complete = criterion.parameters()
        self._sum = GradientSum(exchange, self._parameters, complete, averaged)
        self._fraction = 0.0

    def expect(self, fraction: float) -> None:
        """Announce that gradients will be added up after the backward pass.

        Parameters
        ----------
        fraction : float
            Fraction of the rows of the batch that are those of this process.
        """
        self._fraction = fraction
        self._exchange.due = self._sum.fail

    def learn(self, losses: Tensor, weights: Tensor | None, batch: Any = None) -> None:
        """Learn from the mean loss of each network."""
        super().learn(losses, weights, batch)
        if self._exchange.due is not None:  # nothing was selected
            self._add_up()

    def _backward(self, losses: Tensor, slope: Tensor) -> None:
        super()._backward(losses, slope)
        self._add_up()

    def _add_up(self) -> None:
        values = [value for network in self._before for value in network]
        pairs = zip(values, self._is_averaged, strict=True)
        before = [value for value, is_averaged in pairs if is_averaged]
        self._sum.add_up(before, self._fraction)
