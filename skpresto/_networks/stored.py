"""What is stored of a net: modules whose tensors are replaced by arrays.

skorch stores modules as a pickle inside the pickle. Tools that handle classes or arrays
in their own way do not see inside it: cloudpickle, which stores classes defined in
``__main__``, joblib, which shares arrays between processes, and skops, which checks
types before anything is loaded.
"""

import copy
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from skpresto._device import is_usable, resolved_device
from skpresto._networks.callbacks import DeviceWarning

# Types of numbers that NumPy lacks are stored as integers of the same size.
_INTEGERS = {1: torch.uint8, 2: torch.int16}


class StoredTensor:
    """The values of a parameter or buffer, and what is needed to build it again.

    Parameters
    ----------
    tensor : Tensor
        A dense tensor on any device.
    """

    def __init__(self, tensor: Tensor) -> None:
        values = tensor.detach().cpu()
        self.dtype = str(values.dtype).removeprefix("torch.")
        if not hasattr(np, self.dtype):
            values = values.view(_INTEGERS[values.element_size()])
        self.values = values.numpy()
        # The order in memory decides which kernels are used, and so the last bits.
        self.is_channels_last = values.dim() == 4 and values.is_contiguous(
            memory_format=torch.channels_last
        )
        self.is_parameter = isinstance(tensor, nn.Parameter)
        self.requires_grad = tensor.requires_grad

    def tensor(self) -> Tensor:
        """Return the tensor. It shares memory with the array if that is writable."""
        values = self.values
        if not values.flags.writeable:  # such as a memory map shared by processes
            values = np.array(values)
        found = torch.from_numpy(values).view(getattr(torch, self.dtype))
        if self.is_channels_last:
            found = found.contiguous(memory_format=torch.channels_last)
        if self.is_parameter:
            return nn.Parameter(found, requires_grad=self.requires_grad)
        return found.requires_grad_(self.requires_grad)


def without_tensors(modules: dict[str, nn.Module]) -> dict[str, nn.Module]:
    """Return copies of modules with a :class:`StoredTensor` in place of each tensor.

    Tensors that are used in several places stay one object, and places other than
    parameters and buffers, such as the lists of weights in recurrent layers, are
    included. Sparse tensors and subclasses of Tensor are copied as they are.
    """
    return _replaced(modules, _is_plain, StoredTensor)


def with_tensors(modules: dict[str, nn.Module]) -> dict[str, nn.Module]:
    """Return the modules from which :func:`without_tensors` made copies."""
    return _replaced(modules, _is_stored, StoredTensor.tensor)


def _is_plain(value: Any) -> bool:
    return type(value) in (Tensor, nn.Parameter) and value.layout is torch.strided


def _is_stored(value: Any) -> bool:
    return isinstance(value, StoredTensor)


def _replaced(
    modules: dict[str, nn.Module],
    is_meant: Callable[[Any], bool],
    replacement: Callable[[Any], Any],
) -> dict[str, nn.Module]:
    """Return deep copies in which parameters and buffers are replaced."""
    # deepcopy() takes what the memo has for an object as the copy of it.
    memo: dict[int, Any] = {}
    for part in (part for module in modules.values() for part in module.modules()):
        for value in (*part._parameters.values(), *part._buffers.values()):
            if is_meant(value) and id(value) not in memo:
                memo[id(value)] = replacement(value)
    return copy.deepcopy(modules, memo)


def device_here(name: str) -> torch.device:
    """Return the device on which a stored net predicts on this machine."""
    wanted = resolved_device(name)
    if is_usable(wanted):
        return wanted
    another = resolved_device(wanted.type)
    if is_usable(another):
        return another
    warnings.warn(
        f"This model was trained on device={name!r}, which this machine does not have: "
        "it predicts on the CPU. clf.set_params(device=...) chooses another device.",
        DeviceWarning,
        stacklevel=2,
    )
    return torch.device("cpu")
