"""Random numbers of a process, apart from those that all processes draw alike."""

from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import blake2b

import torch

from skpresto._device import kept_random_states


@contextmanager
def own_randomness(rank: int, epoch: int, device: str | torch.device) -> Iterator[None]:
    """Let a process draw numbers of its own inside the block.

    Dropout draws as many numbers as a process has rows, so the random state that is
    common to all processes, from which orders of batches and initial weights are drawn,
    must not be used for it. Inside the block it is replaced by one that follows from it
    and from the numbers of epoch and process, and restored afterwards.
    """
    parts = torch.get_rng_state().numpy().tobytes(), f"{epoch} {rank}".encode()
    seed = int.from_bytes(blake2b(b"".join(parts), digest_size=8).digest(), "big") >> 1
    with kept_random_states(torch.device(device), seed=seed):
        yield
