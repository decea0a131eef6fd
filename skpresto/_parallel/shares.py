"""Which rows of a batch, or of rows to predict, are those of a process."""

from typing import Any

import torch
from torch import Tensor

from skpresto._data.training_data import PredictionRows
from skpresto._parallel.exchange import Exchange

#: Types of outputs, known to others by their position here.
_TYPES = (torch.float32, torch.float64, torch.float16, torch.bfloat16)
#: BatchNorm cannot be trained on a single row.
LEAST_ROWS = 2


def share_of(n_rows: int, rank: int, size: int) -> slice:
    """Return the rows of one process, of ``n_rows`` that are divided among all.

    Numbers of rows differ by at most one. If there are fewer than two rows for each
    process, the last processes have none, so that none has a single row.

    Examples
    --------
    >>> [share_of(11, rank, 3) for rank in range(3)]
    [slice(0, 4, None), slice(4, 8, None), slice(8, 11, None)]
    >>> [share_of(5, rank, 3) for rank in range(3)]
    [slice(0, 3, None), slice(3, 5, None), slice(5, 5, None)]
    """
    n_parts = min(size, max(1, n_rows // LEAST_ROWS))
    each, n_larger = divmod(n_rows, n_parts)
    starts = [part * each + min(part, n_larger) for part in range(n_parts + 1)]
    starts += [n_rows] * (size - n_parts)
    return slice(starts[rank], starts[rank + 1])


def rows_of_share(rows: PredictionRows, share: slice) -> PredictionRows:
    """Return some of the rows to predict."""
    positions = torch.arange(len(rows)) if rows.rows is None else rows.rows
    labels = None if rows.labels is None else rows.labels[share]
    return PredictionRows(rows.X, positions[share], labels)


class WholeBatch(torch.autograd.Function):
    """The outputs for all rows of a batch, from those for the rows of this process.

    Every process computes the loss of the whole batch, so the gradient with respect to
    its own outputs is complete, and nothing is exchanged in the backward pass.
    """

    @staticmethod
    def forward(ctx: Any, own: Tensor, exchange: Exchange, n_rows: int) -> Tensor:
        """Return outputs of shape (..., n_rows, n_classes) from (..., n_own, ...)."""
        ctx.share = share_of(n_rows, exchange.rank, exchange.size)
        flat = own.detach().contiguous().view(-1)
        sent = exchange.gather(flat.view(torch.uint8), _TYPES.index(own.dtype))
        leading, n_classes = own.shape[:-2], own.shape[-1]
        # The first process has rows of every batch, so its type is that of outputs.
        dtype = _TYPES[sent[0].kind]
        parts = [
            part.body.view(dtype).view(*leading, -1, n_classes)
            for part in sent
            if len(part.body)
        ]
        return torch.cat(parts, dim=-2).to(own.device)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None]:
        """Return the gradient with respect to the outputs of this process."""
        return gradient[..., ctx.share, :], None, None
