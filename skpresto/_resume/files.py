"""Files that are either complete and undamaged, or not used.

A checksum over name and content stands before the content. Files of a fit are also
sealed with a key, so that those of another fit are not taken for them.
"""

import hashlib
import json
import os
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import IO, Any

import torch

#: Written first, so that no other folder is taken for one of resumable fits.
MARKER = "skpresto-resume.json"
#: End of the names of files that are being written.
UNFINISHED = ".part"

_HEAD = b"skpresto 2 "  # the version of the format
_LENGTH = 64  # of a checksum, as text


class DamagedFile(ValueError):
    """A file that is not as it was written."""


class _Sealed:
    """A file to write to, of which a checksum is computed on the way."""

    def __init__(self, file: IO[bytes], name: str, key: str) -> None:
        self._file = file
        self._found = _seal(name, key)

    def write(self, content: Any) -> int:
        """Write bytes."""
        self._found.update(content)
        return self._file.write(content)

    def flush(self) -> None:
        """Do nothing: the file is flushed in the end."""

    def checksum(self) -> bytes:
        """Return the checksum of name, key and what was written."""
        return self._found.hexdigest().encode()


def _seal(name: str, key: str) -> Any:
    return hashlib.sha256(f"{name}\n{key}\n".encode())


def write_state(path: Path, state: dict[str, Any], key: str) -> None:
    """Write tensors and numbers so that a kill leaves no file or a whole one."""
    _replace(path, lambda file: torch.save(state, file), key)


def write_json(path: Path, content: dict[str, Any]) -> None:
    """Write a small dict in the same way."""
    text = json.dumps(content, indent=1).encode()
    _replace(path, lambda file: file.write(text), key="")


def _replace(path: Path, write: Callable[[Any], Any], key: str) -> None:
    part = path.with_name(path.name + UNFINISHED)
    try:
        with open(part, "wb") as file:
            file.write(_HEAD + b"0" * _LENGTH + b"\n")
            sealed = _Sealed(file, path.name, key)
            write(sealed)
            file.seek(len(_HEAD))
            file.write(sealed.checksum())
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)
    except RuntimeError as error:  # torch's, if the disk is full
        raise OSError(f"{path} cannot be written: {error}") from error
    finally:
        part.unlink(missing_ok=True)


def read_bytes(path: Path, key: str) -> bytes:
    """Return what was written to a file, unless it is damaged."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise type(error)(
            f"{path} of a resumable fit cannot be read: {error.strerror or error}. "
            "Restore it, or delete its folder, and the fit begins anew."
        ) from error
    start = len(_HEAD) + _LENGTH + 1
    found = _seal(path.name, key)
    found.update(memoryview(content)[start:])
    if content[:start] != _HEAD + found.hexdigest().encode() + b"\n":
        raise DamagedFile(
            f"{path} is damaged, or of another fit or version of skpresto: its "
            "checksum is not that of its name and content. Restore it, or delete its "
            "folder, and the fit begins anew."
        )
    return content[start:]


def state_from(content: bytes, device: Any) -> dict[str, Any]:
    """Return the state that bytes of :func:`read_bytes` are. No code of it is run."""
    return torch.load(BytesIO(content), map_location=device, weights_only=True)


def key_of(content: dict[str, Any]) -> str:
    """Return the key of a fit that is described by ``content``."""
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def read_json(path: Path) -> dict[str, Any]:
    """Read what :func:`write_json` wrote."""
    return json.loads(read_bytes(path, key=""))
