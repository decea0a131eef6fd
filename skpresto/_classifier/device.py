"""Check the ``device`` of an estimator."""

from typing import Any

import torch


def check_device(estimator: Any) -> None:
    """Raise if torch does not know the device, or cannot use it on this machine."""
    device = estimator.device
    try:
        is_known = torch.device(device).type != "meta"  # which holds no values
    except (RuntimeError, TypeError):
        is_known = False
    if not is_known:
        raise ValueError(
            f"{type(estimator).__name__} needs device to be a name that torch knows, "
            f"such as 'cpu', 'cuda', 'cuda:1' or 'mps', got {device!r}. GPUs of NVIDIA "
            "and AMD are called 'cuda'."
        )
    try:
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError) as error:
        reason = str(error).strip().partition("\n")[0].partition(". ")[0].rstrip(".")
        raise ValueError(
            f"{type(estimator).__name__} cannot use device={device!r} on this machine: "
            f"{reason}. Use device='cpu', or install torch with support for it."
        ) from error
