"""Gradients added up over processes, and statistics of BatchNorm averaged."""

from collections.abc import Iterable, Sequence

import torch
from torch import Tensor

from skpresto._parallel.exchange import Exchange


class GradientSum:
    """Add up gradients and changes of buffers, all of them in one message per type.

    Parameters
    ----------
    exchange : Exchange
        The processes.
    parameters : sequence of Tensor
        Their gradients are added up. A parameter that has a gradient in no process has
        none afterwards.
    complete : iterable of Tensor
        Parameters whose gradient is complete in every process, such as those of the
        criterion, which sees the whole batch. That of the first process is used.
    buffers : sequence of Tensor
        Floating-point buffers, such as the running means of BatchNorm.
    """

    def __init__(
        self,
        exchange: Exchange,
        parameters: Sequence[Tensor],
        complete: Iterable[Tensor],
        buffers: Sequence[Tensor],
    ) -> None:
        self.exchange = exchange
        self.parameters = parameters
        self.buffers = buffers
        self._is_complete = {id(parameter) for parameter in complete}
        # One number for a failure, and one per parameter: whether it has a gradient.
        self._n_marks = 1 + len(parameters)
        dtype = parameters[0].dtype
        self._layout = [(dtype, self._n_marks)]
        self._layout += [(t.dtype, t.numel()) for t in (*parameters, *buffers)]
        self._types = list(dict.fromkeys(dtype for dtype, _ in self._layout))

    def add_up(self, before: Sequence[Tensor], fraction: float) -> None:
        """Set gradients to their sums, and change buffers by the mean of the changes.

        Parameters
        ----------
        before : sequence of Tensor
            Buffers before the forward pass.
        fraction : float
            Fraction of the rows of the batch that are those of this process.
        """
        gradients = [self._gradient(p) for p in self.parameters]
        marks = torch.tensor(
            [0.0, *(float(gradient is not None) for gradient in gradients)],
            dtype=self._layout[0][0],
            device=self.parameters[0].device,
        )
        pieces = [marks]
        for parameter, gradient in zip(self.parameters, gradients, strict=True):
            pieces.append(torch.zeros_like(parameter) if gradient is None else gradient)
        for buffer, value in zip(self.buffers, before, strict=True):
            # Not a plain difference, which is not a number for infinite constants.
            change = torch.where(buffer == value, 0, buffer - value)
            pieces.append(change.to(buffer.dtype) * fraction)
        sums = self._summed(pieces)
        self.exchange.due = None
        has_failed, *n_gradients = sums[0].tolist()
        if has_failed:
            self.exchange.gather()  # raises the error of the process that failed
        first_buffer = 1 + len(self.parameters)
        self._set_gradients(sums[1:first_buffer], n_gradients)
        changes = sums[first_buffer:]
        for buffer, value, change in zip(self.buffers, before, changes, strict=True):
            buffer.copy_(value + change.view_as(value))

    def fail(self) -> None:
        """Take part in a sum in place of :meth:`add_up`, and mark it as failed."""
        marks = torch.zeros(self._n_marks, dtype=self._layout[0][0])
        marks[0] = 1
        zeros = [torch.zeros(n, dtype=dtype) for dtype, n in self._layout[1:]]
        self._summed([marks, *zeros])

    def _gradient(self, parameter: Tensor) -> Tensor | None:
        gradient = parameter.grad
        if gradient is not None and gradient.layout is not torch.strided:
            raise ValueError(
                "data_parallel cannot add up sparse gradients. Use layers that have "
                "dense ones, such as Embedding(sparse=False)."
            )
        is_left_out = id(parameter) in self._is_complete and self.exchange.rank > 0
        return None if is_left_out else gradient

    def _summed(self, pieces: list[Tensor]) -> list[Tensor]:
        """Return the sums of the pieces over all processes, as flat tensors."""
        sums: list[Tensor] = [torch.empty(0)] * len(pieces)
        for dtype in self._types:
            members = [i for i, (of, _) in enumerate(self._layout) if of == dtype]
            flat = torch.cat([pieces[i].reshape(-1) for i in members])
            total = self.exchange.add_up(flat).to(flat.device)
            parts = total.split([self._layout[i][1] for i in members])
            for i, part in zip(members, parts, strict=True):
                sums[i] = part
        return sums

    def _set_gradients(self, sums: list[Tensor], n_gradients: list[float]) -> None:
        for parameter, total, n in zip(self.parameters, sums, n_gradients, strict=True):
            if not n:
                parameter.grad = None
                continue
            if parameter.grad is None:
                parameter.grad = torch.empty_like(parameter)
            # A copy, since optimizers expect the memory order of the parameter.
            parameter.grad.copy_(total.view_as(parameter))
