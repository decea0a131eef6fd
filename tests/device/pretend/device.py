"""Load the pretend device, and let torch's Python side believe in it."""

import ctypes
import os
from contextlib import contextmanager

from tests.device.pretend.build import library

N_DEVICES = 2

_library = None
_listeners = []


def _tell(kind, operator, n_bytes):
    for listener in _listeners:
        listener(kind, operator, n_bytes)


@contextmanager
def counted_waits():
    """Collect the operators for whose result the host waits inside the block."""
    waits = []

    def listen(kind, operator, n_bytes):
        if kind == "wait":
            waits.append(operator)

    _listeners.append(listen)
    try:
        yield waits
    finally:
        _listeners.remove(listen)


@contextmanager
def named_launches():
    """Collect the names of the operators that are launched inside the block."""
    names = []

    def listen(kind, operator, n_bytes):
        if kind == "launch":
            names.append(operator.removeprefix("aten::"))

    _listeners.append(listen)
    _library.pretend_tell_launches(1)
    try:
        yield names
    finally:
        _library.pretend_tell_launches(0)
        _listeners.remove(listen)


def taken_launches():
    """Return how many operators were launched since the last call."""
    return _library.pretend_take_launches()


@contextmanager
def without_float64():
    """Let the devices have no float64, as Apple's chips."""
    _library.pretend_forbid_float64(1)
    try:
        yield
    finally:
        _library.pretend_forbid_float64(0)


class _RandomNumbers:
    """The generator of a device, with the methods that torch calls."""

    def __init__(self, index):
        self.index = index

    def get_state(self):
        import torch

        buffer = (ctypes.c_ubyte * _library.pretend_state_size())()
        _library.pretend_get_state(self.index, buffer)
        return torch.frombuffer(bytearray(buffer), dtype=torch.uint8).clone()

    def set_state(self, state):
        if state.device.type != "cpu":  # as the generators of CUDA
            raise TypeError("RNG state must be a torch.ByteTensor")
        content = state.contiguous().numpy().tobytes()
        buffer = (ctypes.c_ubyte * len(content)).from_buffer_copy(content)
        _library.pretend_set_state(self.index, buffer)

    def manual_seed(self, seed):
        _library.pretend_seed(self.index, seed % (1 << 64))

    def seed(self):
        self.manual_seed(int.from_bytes(os.urandom(7), "big"))

    def initial_seed(self):
        return _library.pretend_initial_seed(self.index)


def load():
    """Load the device; nothing may have asked torch for CUDA before."""
    global _library
    if _library is not None:
        return
    _library = ctypes.PyDLL(str(library()), mode=ctypes.RTLD_GLOBAL)
    _library.pretend_tell.argtypes = [ctypes.py_object]
    _library.pretend_seed.argtypes = [ctypes.c_int, ctypes.c_ulonglong]
    _library.pretend_initial_seed.restype = ctypes.c_ulonglong
    _library.pretend_take_launches.restype = ctypes.c_longlong
    _library.pretend_tell(_tell)
    if not _library.pretend_is_in_use():
        raise RuntimeError("torch looked for CUDA before the pretend device was loaded")
    _patch_cuda()
    _patch_storages()


def _patch_cuda():
    """Replace what torch.cuda asks of a build that has CUDA."""
    import torch
    import torch.cuda.amp.common

    cuda, C = torch.cuda, torch._C

    def exchange(index):  # the function of the library cannot be hashed
        return _library.pretend_exchange_device(index)

    def set_device(device):
        exchange(cuda._utils._get_device_index(device, optional=True))

    answers = {
        "is_available": True,
        "is_initialized": True,
        "_is_compiled": True,
        "_is_in_bad_fork": False,
        "_lazy_init": None,
        "device_count": N_DEVICES,
        "empty_cache": None,
        "get_device_name": "pretend device",
        "get_device_capability": (8, 0),
        "is_bf16_supported": True,
        "memory_allocated": 0,
    }
    for name, answer in answers.items():
        setattr(cuda, name, lambda *_, answer=answer, **__: answer)
    cuda._initialized = True
    cuda.default_generators = tuple(map(_RandomNumbers, range(N_DEVICES)))
    cuda.set_device = set_device
    # A function each: torch.compile notes which is which.
    cuda.current_device = lambda: exchange(-1)
    cuda._exchange_device = lambda index: exchange(index)
    cuda._maybe_exchange_device = lambda index: exchange(index)
    C._cuda_getDevice = lambda: exchange(-1)
    cuda._get_device_index = cuda._utils._get_device_index
    cuda.synchronize = lambda device=None: _tell("wait", "torch.cuda.synchronize", 0)
    cuda._lazy_call = lambda call, **_: call()
    for name in ("device_count", "current_device", "_lazy_init", "_lazy_call"):
        setattr(cuda.random, name, getattr(cuda, name))
    C._cuda_getDeviceCount = lambda: N_DEVICES
    C._cuda_isInBadFork = lambda: False
    C._cuda_setDevice = lambda index: exchange(index)
    C._cuda_getCurrentRawStream = lambda index: 0
    C._cuda_synchronize = lambda: None
    torch.cuda.amp.common.amp_definitely_not_available = lambda: False


def _patch_storages():
    """Let storages be moved and copied, which torch's CPU builds refuse for CUDA."""
    import torch
    from torch import serialization

    plain_clone = torch.UntypedStorage.clone

    def flat(storage):
        return torch.empty(0, dtype=torch.uint8, device=storage.device).set_(storage)

    def to_cuda(storage, device=None, non_blocking=False):
        index = torch.cuda._utils._get_device_index(device, optional=True)
        target = torch.empty(
            storage.nbytes(), dtype=torch.uint8, device=f"cuda:{index}"
        )
        return target.copy_(flat(storage)).untyped_storage()

    def clone(storage):
        if storage.device.type != "cuda":
            return plain_clone(storage)
        return flat(storage).clone().untyped_storage()

    def tag(storage):
        is_here = storage.device.type == "cuda"
        return f"cuda:{storage.device.index}" if is_here else None

    def deserialize(storage, location):
        if not location.startswith("cuda"):
            return None
        return storage.cuda(serialization._validate_device(location, "cuda"))

    torch.UntypedStorage.cuda = to_cuda
    torch.UntypedStorage.clone = clone
    serialization.register_package(0, tag, deserialize)
