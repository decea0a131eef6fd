"""Read ``.npy`` and ``.npz`` files, and allocate no more than they contain."""

import math
import zipfile
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray


def read_npy_header(stream: IO[bytes]) -> tuple[tuple[int, ...], np.dtype]:
    """Return shape and dtype in the header, and leave the stream behind it.

    Raises
    ------
    ValueError
        If there is no valid header.
    """
    read_header = (
        np.lib.format.read_array_header_1_0
        if np.lib.format.read_magic(stream) == (1, 0)
        else np.lib.format.read_array_header_2_0
    )
    shape, _, dtype = read_header(stream)
    return shape, dtype


def read_npy(stream: IO[bytes], n_bytes: int) -> NDArray:
    """Return the array in a stream of ``n_bytes`` bytes, without unpickling.

    numpy allocates the array that the header describes before it reads it. So the
    header is compared with the number of bytes first.

    Raises
    ------
    ValueError
        If the content is not one array of a dtype other than object, or has another
        number of bytes than its header says.
    """
    shape, dtype = read_npy_header(stream)
    n_promised = math.prod(shape) * dtype.itemsize
    n_there = n_bytes - stream.tell()
    if not dtype.hasobject and n_promised != n_there:
        raise ValueError(
            f"its header says {n_promised} bytes, for an array of shape {shape} and "
            f"dtype {dtype}, but there are {n_there}"
        )
    stream.seek(0)
    return np.lib.format.read_array(stream, allow_pickle=False)


class TooLargeError(ValueError):
    """The arrays of a compressed file are larger than allowed."""


def read_npz(path: Path, max_bytes: int | None) -> dict[str, NDArray]:
    """Return the arrays of an ``.npz`` file by name, without unpickling.

    Raises
    ------
    TooLargeError
        If the arrays have more than ``max_bytes`` bytes together, and more than the
        file itself.
    """
    with zipfile.ZipFile(path) as archive:
        members = archive.infolist()
        n_bytes = sum(member.file_size for member in members)
        n_on_disk = path.stat().st_size
        if max_bytes is not None and n_bytes > max(max_bytes, n_on_disk):
            raise TooLargeError(
                f"its {n_on_disk} bytes are arrays of {n_bytes} bytes when decompressed"
            )
        return dict(_named_array(archive, member) for member in members)


def _named_array(
    archive: zipfile.ZipFile, member: zipfile.ZipInfo
) -> tuple[str, NDArray]:
    name = member.filename
    if not name.endswith(".npy"):
        raise ValueError(f"it contains {name!r}, which is not an array")
    with archive.open(member) as stream:
        return name.removesuffix(".npy"), read_npy(stream, member.file_size)
