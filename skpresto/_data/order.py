"""The random order of rows that are stored in blocks, of which a few are in memory."""

from dataclasses import dataclass

import torch
from torch import Tensor


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
