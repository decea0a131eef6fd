"""Read pickles from the internet without executing code that they contain."""

import importlib
import io
import zipfile
from pathlib import Path
from typing import Any

from skpresto.datasets._array_unpickler import RefusedError, load_pickle
from skpresto.datasets._npy import read_npy_header
from skpresto.datasets._source import Source

#: First number in files of torch from before it used zip archives.
_OLD_TORCH_MAGIC = 0x1950A86A20F9469CFC6C

#: The published files of labels are a hundred times smaller.
_MAX_TORCH_BYTES = 2**28


def read_pickle(source: Source, path: Path) -> Any:
    """Return the content of a pickle of arrays and built-in containers."""
    return _checked(source, path, source.read_bytes(path), start=0)


def read_pickled_npy(source: Source, path: Path) -> Any:
    """Return the one object in an ``.npy`` file of dtype object."""
    content = source.read_bytes(path)
    stream = io.BytesIO(content)
    try:
        _, dtype = read_npy_header(stream)
    except ValueError as error:
        raise source.damaged(path, f"not an .npy file ({error})") from None
    if not dtype.hasobject:
        raise source.damaged(path, f"expected a dict, got an array of dtype {dtype}")
    return _checked(source, path, content, stream.tell())


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
            n_bytes = sum(member.file_size for member in archive.infolist())
            if n_bytes > _MAX_TORCH_BYTES:
                raise ValueError(f"{n_bytes} bytes when decompressed")
            name = next(n for n in archive.namelist() if n.endswith("data.pkl"))
            return load_pickle(archive.read(name))[0]
    magic, end = load_pickle(content)
    if magic != _OLD_TORCH_MAGIC:
        raise ValueError("not a file written by torch")
    for _ in ("protocol version", "sizes of integers"):
        _, end = load_pickle(content, end)
    return load_pickle(content, end)[0]


def _checked(source: Source, path: Path, content: bytes, start: int) -> Any:
    try:
        return load_pickle(content, start)[0]
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
