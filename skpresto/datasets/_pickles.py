"""Read pickles from the internet without executing code that they contain."""

import importlib
import pickle
import zipfile
from pathlib import Path
from typing import IO, Any

import numpy as np

from skpresto.datasets._source import Source

#: First number in files of torch from before it used zip archives.
_OLD_TORCH_MAGIC = 0x1950A86A20F9469CFC6C


def _latin1(text: str, encoding: str = "latin1") -> bytes:
    """Return bytes that pickle protocol 2 has stored as str."""
    if encoding != "latin1":
        raise _RefusedError(f"text encoded as {encoding!r}")
    return text.encode("latin1")


#: Functions that pickles of arrays, numbers, lists and dicts need, by name. Those of
#: numpy are taken from its objects, because their modules differ between versions.
_ALLOWED = {
    "_reconstruct": np.empty(0).__reduce__()[0],
    "_frombuffer": np.empty(1).__reduce_ex__(5)[0],
    "scalar": np.int64(0).__reduce__()[0],
    "ndarray": np.ndarray,
    "dtype": np.dtype,
    "encode": _latin1,
}
_ALLOWED_MODULES = {
    "numpy": {"ndarray", "dtype"},
    "numpy.core.multiarray": {"_reconstruct", "scalar"},
    "numpy._core.multiarray": {"_reconstruct", "scalar"},
    "numpy.core.numeric": {"_frombuffer"},
    "numpy._core.numeric": {"_frombuffer"},
    "_codecs": {"encode"},
}


class _RefusedError(pickle.UnpicklingError):
    """A pickle needs a function or class that is not allowed."""


class _ArrayUnpickler(pickle.Unpickler):
    """Unpickle arrays and built-in containers, and refuse everything else."""

    def __init__(self, stream: IO[bytes]) -> None:
        super().__init__(stream, encoding="bytes")

    def find_class(self, module: str, name: str) -> Any:
        if name not in _ALLOWED_MODULES.get(module, ()):
            raise _RefusedError(f"{module}.{name}")
        return _ALLOWED[name]


def read_pickle(source: Source, path: Path) -> Any:
    """Return the content of a pickle of arrays and built-in containers."""
    with path.open("rb") as stream:
        return _checked(source, path, stream)


def read_pickled_npy(source: Source, path: Path) -> Any:
    """Return the one object in an ``.npy`` file of dtype object."""
    with path.open("rb") as stream:
        try:
            version = np.lib.format.read_magic(stream)
            read_header = (
                np.lib.format.read_array_header_1_0
                if version == (1, 0)
                else np.lib.format.read_array_header_2_0
            )
            _, _, dtype = read_header(stream)
        except ValueError as error:
            raise source.damaged(path, f"not an .npy file ({error})") from None
        if not dtype.hasobject:
            raise source.damaged(
                path, f"expected a dict, got an array of dtype {dtype}"
            )
        array = _checked(source, path, stream)
    return array.item() if isinstance(array, np.ndarray) and array.size == 1 else array


def read_torch(source: Source, path: Path) -> Any:
    """Return the content of a ``.pt`` file; imports torch only to read tensors."""
    try:
        return _torch_content(path)
    except _RefusedError:
        torch = importlib.import_module("torch")
    except Exception as error:
        # A damaged pickle can raise any error.
        raise _unreadable(source, path, error) from None
    try:
        return torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:
        raise _unreadable(source, path, error) from None


def _torch_content(path: Path) -> Any:
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            name = next(n for n in archive.namelist() if n.endswith("data.pkl"))
            with archive.open(name) as stream:
                return _ArrayUnpickler(stream).load()
    with path.open("rb") as stream:
        if _ArrayUnpickler(stream).load() != _OLD_TORCH_MAGIC:
            raise ValueError("not a file written by torch")
        for _ in ("protocol version", "sizes of integers"):
            _ArrayUnpickler(stream).load()
        return _ArrayUnpickler(stream).load()


def _checked(source: Source, path: Path, stream: IO[bytes]) -> Any:
    try:
        return _ArrayUnpickler(stream).load()
    except _RefusedError as error:
        raise source.damaged(
            path,
            f"it would call {error}, but only arrays, numbers, lists and dicts are "
            "allowed; nothing was executed",
        ) from None
    except Exception as error:
        # A damaged pickle can raise any error.
        raise _unreadable(source, path, error) from None


def _unreadable(source: Source, path: Path, error: Exception) -> ValueError:
    first_line = str(error).partition("\n")[0]
    return source.damaged(path, f"{type(error).__name__} ({first_line})")
