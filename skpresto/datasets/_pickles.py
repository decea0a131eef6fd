"""Read pickles from the internet without executing code that they contain."""

import importlib
import io
import zipfile
from pathlib import Path
from typing import IO, Any

import numpy as np

from skpresto.datasets._array_unpickler import RefusedError, load_pickle
from skpresto.datasets._source import Source

#: First number in files of torch from before it used zip archives.
_OLD_TORCH_MAGIC = 0x1950A86A20F9469CFC6C


def read_pickle(source: Source, path: Path) -> Any:
    """Return the content of a pickle of arrays and built-in containers."""
    return _loaded(source, path, io.BytesIO(source.read_bytes(path)))


def read_pickled_npy(source: Source, path: Path) -> Any:
    """Return the one object in an ``.npy`` file of dtype object."""
    stream = io.BytesIO(source.read_bytes(path))
    numpy_format = np.lib.format
    try:
        is_first = numpy_format.read_magic(stream) == (1, 0)
        name = f"read_array_header_{1 if is_first else 2}_0"
        _, _, dtype = getattr(numpy_format, name)(stream)
    except ValueError as error:
        raise source.damaged(path, f"not an .npy file ({error})") from None
    if not dtype.hasobject:
        raise source.damaged(path, f"expected a dict, got an array of dtype {dtype}")
    return _loaded(source, path, stream)


def read_torch(source: Source, path: Path) -> Any:
    """Return the content of a ``.pt`` file; imports torch only to read tensors."""
    try:
        return _torch_content(source.read_bytes(path))
    except RefusedError:
        torch = importlib.import_module("torch")
    except Exception as error:
        # A damaged pickle can raise any error.
        raise _unreadable(source, path, error) from None
    try:
        return torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:
        raise _unreadable(source, path, error) from None


def _torch_content(content: bytes) -> Any:
    stream = io.BytesIO(content)
    if zipfile.is_zipfile(stream):
        with zipfile.ZipFile(stream) as archive:
            name = next(n for n in archive.namelist() if n.endswith("data.pkl"))
            return load_pickle(io.BytesIO(archive.read(name)))
    stream.seek(0)
    if load_pickle(stream) != _OLD_TORCH_MAGIC:
        raise ValueError("not a file written by torch")
    _version, _sizes_of_integers = load_pickle(stream), load_pickle(stream)
    return load_pickle(stream)


def _loaded(source: Source, path: Path, stream: IO[bytes]) -> Any:
    try:
        return load_pickle(stream)
    except RefusedError as error:
        raise source.damaged(
            path,
            f"it contains {error}, but only arrays of numbers, text, lists and dicts "
            "are allowed; nothing was executed",
        ) from None
    except Exception as error:
        # A damaged pickle can raise any error.
        raise _unreadable(source, path, error) from None


def _unreadable(source: Source, path: Path, error: Exception) -> ValueError:
    first_line = str(error).partition("\n")[0]
    return source.damaged(path, f"{type(error).__name__} ({first_line})")
