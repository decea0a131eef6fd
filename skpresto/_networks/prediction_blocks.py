"""Forward passes whose result for a row does not depend on the other rows.

Matrix products are computed by different kernels for different numbers of rows, and
some kernels sum in another order for rows at another alignment in memory. The last bits
of a prediction would then depend on which rows are predicted together.
"""

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.overrides import TorchFunctionMode

from skpresto._data.batches import TensorBlocks
from skpresto._data.features import map_parts, parts_of, split_rows
from skpresto._networks.side_by_side import in_threads

#: Rows per forward pass for images, and least and most rows for tables.
_BLOCK_OF_IMAGES, _LEAST_OF_TABLE, _MOST_OF_TABLE = 16, 256, 4096
#: Rows times parameters of a forward pass for tables: small networks take more rows,
#: which would otherwise spend their time in Python.
_WORK_PER_BLOCK = 1 << 24
#: Values per forward pass, if rows are long.
_VALUES_PER_BLOCK = 1 << 18
#: Rows of so many float32 values begin at multiples of 64 bytes.
_ALIGNED = 16


class BlockPlan(NamedTuple):
    """What the forward pass of a module depends on, beside the shape of a row.

    Parameters
    ----------
    n_parameters : int
        Number of parameters of the module.
    needs_padding : bool
        Whether results depend on the alignment of rows in memory.
    is_compiled : bool, default=False
        Whether ``torch.compile`` was used, whose modules are applied in one thread.
    """

    n_parameters: int
    needs_padding: bool
    is_compiled: bool = False

    @classmethod
    def of(cls, module: nn.Module) -> "BlockPlan":
        """Return the plan of a module."""
        n_parameters = sum(p.numel() for p in module.parameters())
        parts = list(module.modules())
        return cls(
            n_parameters,
            needs_padding=any(map(_is_sensitive_to_alignment, parts)),
            is_compiled=any(part._compiled_call_impl is not None for part in parts),
        )

    def block_size(self, features: Any) -> int:
        """Return the number of rows in every forward pass.

        It depends on the shape of a row and on the module, not on the number of rows.
        Features of several parts are treated as images: what they cost is not known.
        """
        if not isinstance(features, Tensor) or features.dim() != 2:
            return _BLOCK_OF_IMAGES
        return self._rows_of_table(features.shape[1])

    def _rows_of_table(self, n_columns: int) -> int:
        wanted = _WORK_PER_BLOCK // max(1, self.n_parameters)
        wanted = min(_MOST_OF_TABLE, max(_LEAST_OF_TABLE, wanted))
        at_most = max(16, _VALUES_PER_BLOCK // max(1, n_columns))
        return min(wanted, at_most) // 16 * 16

    def in_whole_blocks(self, batches: Any) -> Any:
        """Let rows be read in multiples of a block, if they are read in large pieces.

        A block that is filled up takes as long as a full one.
        """
        if not isinstance(batches, TensorBlocks):
            return batches
        X = batches.dataset.X
        size = self._rows_of_table(X.row_size) if X.is_table else _BLOCK_OF_IMAGES
        n_blocks = max(1, round(batches.batch_size / size))
        return replace(batches, batch_size=n_blocks * size)


def blocks_of(features: Any, size: int) -> Iterator[tuple[Any, int]]:
    """Cut features into blocks of ``size`` rows; also yield how many are in each.

    The last block is filled up with copies of its last row.
    """
    for block in split_rows(features, size):
        n_rows = len(parts_of(block)[0])
        if n_rows < size:
            block = map_parts(partial(_fill_up, size=size), block)
        yield block, n_rows


def _fill_up(block: Tensor, size: int) -> Tensor:
    copies = block[-1:].expand(size - len(block), *block.shape[1:])
    return torch.cat((block, copies))


def outputs_in_blocks(
    apply: Callable[[Any], Tensor], features: Any, plan: BlockPlan
) -> Tensor:
    """Return what a module in evaluation mode returns for features, block by block.

    On the CPU, blocks are divided among as many threads as torch may use.

    Parameters
    ----------
    apply : callable
        Applies the module.
    features : Tensor, or dict or tuple of tensors
        Rows on the device of the module.
    plan : BlockPlan
        Of the module.
    """
    size = plan.block_size(features)

    def apply_to(block: Any, n_rows: int) -> Tensor:
        with _PadLinearOutputs() if plan.needs_padding else nullcontext():
            return apply(block)[:n_rows]

    tasks = [partial(apply_to, *block) for block in blocks_of(features, size)]
    is_divided = parts_of(features)[0].is_cpu and not plan.is_compiled
    outputs = in_threads(tasks, torch.get_num_threads() if is_divided else 1)
    return outputs[0] if len(outputs) == 1 else torch.cat(outputs)


def _is_sensitive_to_alignment(module: nn.Module) -> bool:
    return isinstance(module, nn.Linear) and _needs_padding(module.weight)


def _needs_padding(weight: Tensor) -> bool:
    """Return whether a product with few outputs has rows of any alignment."""
    n_outputs, n_inputs = weight.shape
    return n_outputs < _ALIGNED and n_inputs % _ALIGNED > 0


class _PadLinearOutputs(TorchFunctionMode):
    """Add outputs to linear layers that have few of them, and remove them again."""

    def __torch_function__(
        self, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        if func is functional.linear and not kwargs and _needs_padding(args[1]):
            inputs, *weights = args  # and bias, if there is one
            n_outputs = len(weights[0])
            missing = (0, _ALIGNED - n_outputs)
            padded = [
                None
                if w is None
                else functional.pad(w, (0, 0) * (w.dim() - 1) + missing)
                for w in weights
            ]
            return functional.linear(inputs, *padded)[..., :n_outputs].contiguous()
        return func(*args, **(kwargs or {}))
