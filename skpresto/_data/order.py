"""The order in which rows are visited in an epoch, and how it is cut into batches."""

from dataclasses import dataclass

import torch
from torch import Tensor

#: A last batch smaller than this fraction of the others is merged into the previous.
_SMALLEST_BATCH = 1 / 8


@dataclass(frozen=True)
class ReadingOrder:
    """Shuffle rows so that each block is read once per epoch.

    In a completely random order, every row of a batch is in another block, and each is
    read again and again. Here blocks are put in a random order, and rows are shuffled
    within as many blocks as fit into memory together.

    Parameters
    ----------
    blocks : Tensor of shape (n_rows,)
        Number of the block of each row, from 0.
    n_kept : int
        Number of blocks that fit into memory.
    """

    blocks: Tensor
    n_kept: int

    def draw(self) -> Tensor:
        """Return positions of all rows in a random order.

        It is that of other data, with the same random numbers, if all blocks fit.
        """
        n_blocks = int(self.blocks.max()) + 1
        shuffled = torch.randperm(len(self.blocks))
        if n_blocks <= self.n_kept:
            return shuffled
        part_of_block = torch.randperm(n_blocks) // self.n_kept
        parts = part_of_block[self.blocks[shuffled]]
        return shuffled[torch.argsort(parts, stable=True)]


def batch_sizes(n_rows: int, batch_size: int, drop_last: bool = False) -> list[int]:
    """Return the number of rows in each batch of an epoch.

    Remaining rows that would make a last batch smaller than an eighth of the others
    are merged into the previous batch. BatchNorm cannot be trained on a single row,
    and a full step with the statistics of a few rows harms the network.

    Examples
    --------
    >>> batch_sizes(100, 32), batch_sizes(99, 32), batch_sizes(99, 32, drop_last=True)
    ([32, 32, 36], [32, 32, 35], [32, 32, 32])
    """
    batch_size = n_rows if batch_size == -1 else batch_size
    n_full, rest = divmod(n_rows, batch_size)
    sizes = [batch_size] * n_full
    is_few = rest == 1 or rest < _SMALLEST_BATCH * batch_size
    if is_few and n_full and not drop_last:
        sizes[-1] += rest
    elif rest and not (drop_last and n_full):
        sizes.append(rest)
    return sizes


def draw_order(
    sizes: list[int],
    n_rows: int,
    shuffle: bool = True,
    reading: ReadingOrder | None = None,
) -> tuple[Tensor, ...]:
    """Return the positions of the rows of each batch of an epoch."""
    if not shuffle:
        positions = torch.arange(n_rows)
    elif reading is not None:
        positions = reading.draw()
    else:
        positions = torch.randperm(n_rows)
    return positions[: sum(sizes)].split(sizes)
