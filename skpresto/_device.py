"""Where tensors live: what the name of a device means, and its random numbers.

A fit resolves the name once. Networks, labels, predictions and what methods store per
sample live on the device of the net; everything that is computed in float64, which some
devices lack, is computed on the host.
"""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import torch
from torch import Tensor


def resolved_device(name: str | torch.device, rank: int | None = None) -> torch.device:
    """Return the device that a name means on this machine, with its number.

    Parameters
    ----------
    name : str or torch.device
        As torch knows it, or "auto": a GPU if there is one, else Apple's chip, else the
        CPU.
    rank : int, default=None
        Number of this process among those of the machine that train together; each
        takes another GPU, unless ``name`` has a number.

    Examples
    --------
    >>> resolved_device("cpu")
    device(type='cpu')
    """
    device = _best_device() if name == "auto" else torch.device(name)
    if device.type != "cuda" or device.index is not None or not _has_cuda():
        return device
    if rank is None:
        return torch.device("cuda", torch.cuda.current_device())
    return torch.device("cuda", rank % torch.cuda.device_count())


def _best_device() -> torch.device:
    if _has_cuda():
        return torch.device("cuda")
    has_mps = torch.backends.mps.is_available()
    return torch.device("mps" if has_mps else "cpu")


def _has_cuda() -> bool:
    return torch.cuda.is_available()


def is_usable(device: torch.device) -> bool:
    """Return whether this machine has a device."""
    try:
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError):  # of torch without support for it, too
        return False
    return True


def random_states(device: torch.device) -> dict[str, Tensor]:
    """Return the random states of the CPU and of a device, by the type of each."""
    states = {"cpu": torch.get_rng_state()}
    if device.type == "cuda":
        states["cuda"] = torch.cuda.get_rng_state(device)
    if device.type == "mps":
        states["mps"] = torch.mps.get_rng_state()
    return states


def set_random_states(states: dict[str, Tensor], device: torch.device) -> None:
    """Put the CPU and a device back into states that :func:`random_states` returned."""
    # They are on the CPU, wherever files with the states were read to.
    torch.set_rng_state(states["cpu"].cpu())
    if device.type == "cuda" and "cuda" in states:
        torch.cuda.set_rng_state(states["cuda"].cpu(), device)
    if device.type == "mps" and "mps" in states:
        torch.mps.set_rng_state(states["mps"].cpu())


@contextmanager
def kept_random_states(
    *devices: torch.device, seed: int | None = None
) -> Iterator[None]:
    """Restore the random states of the CPU and of devices after the block.

    Parameters
    ----------
    *devices : torch.device
        Devices other than the CPU that may draw in the block.
    seed : int, default=None
        Seed of all of them inside the block; None leaves them as they are.

    Notes
    -----
    ``torch.manual_seed`` would seed all GPUs, or note the seed for when they are first
    used, so that the caller's random state was lost there.
    """
    cpu = torch.device("cpu")
    with ExitStack() as after:
        for device in (cpu, *devices):
            after.callback(set_random_states, random_states(device), device)
            if seed is None:
                continue
            torch.default_generator.manual_seed(seed)
            if device.type == "cuda":
                with torch.cuda.device(device):
                    torch.cuda.manual_seed(seed)
            if device.type == "mps":
                torch.mps.manual_seed(seed)
        yield


def fraction_of(mask: Tensor) -> float:
    """Return the fraction of a mask that is True, nan of an empty one.

    Its mean in float32 would be inexact for many samples.

    Examples
    --------
    >>> fraction_of(torch.tensor([True, False, True, True]))
    0.75
    """
    return int(mask.sum()) / len(mask) if len(mask) else float("nan")
