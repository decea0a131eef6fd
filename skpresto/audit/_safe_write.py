"""Write files whole or not at all."""

import os
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any


def check_writable(path: Path, *, overwrite: bool) -> None:
    """Raise if a file cannot be written, before any work is done for it."""
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder, but a file is to be written.")
    if path.exists() and not overwrite:
        raise FileExistsError(
            f"{path} exists already. Pass --force to replace it, or choose another "
            "name."
        )
    folder = path.parent
    if not folder.is_dir():
        raise FileNotFoundError(
            f"{path} cannot be written: the folder {folder} does not exist."
        )
    if not os.access(folder, os.W_OK):
        raise PermissionError(
            f"{path} cannot be written: no permission to write in {folder.absolute()}."
        )


@contextmanager
def whole_file(path: Path, *, overwrite: bool, **options: Any) -> Iterator[Any]:
    """Open a file that appears under its name only when the block has ended well.

    Parameters
    ----------
    path : Path
        The file.
    overwrite : bool
        Whether an existing file may be replaced.
    **options : dict
        As of ``open``, such as ``mode`` and ``encoding``.
    """
    check_writable(path, overwrite=overwrite)
    number, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with open(number, **{"mode": "w", **options}) as file:
            yield file
        os.chmod(name, 0o666 & ~_umask())
        if overwrite:
            os.replace(name, path)
        else:
            os.link(name, path)  # unlike a rename, fails if the file exists by now
    finally:
        Path(name).unlink(missing_ok=True)


def write_text(path: Path, text: str | Iterable[str], *, overwrite: bool) -> Path:
    """Write a text, or its parts, to a file, and return its path."""
    parts = [text] if isinstance(text, str) else text
    with whole_file(path, overwrite=overwrite, encoding="utf-8", newline="") as file:
        file.writelines(parts)
    return path


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
