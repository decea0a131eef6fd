"""Write files whole or not at all."""

import errno
import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

#: First letters of files that are not complete yet, of any length of name.
UNFINISHED = ".skpresto-"
#: What file systems say that have no hard links.
_NO_LINKS = {errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK}


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
    if path.exists() and not (path.is_file() and os.access(path, os.W_OK)):
        kind = "write-protected" if path.is_file() else "a device or a pipe"
        raise PermissionError(
            f"{path} cannot be replaced: it is {kind}. Choose another name."
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
    mode = path.stat().st_mode if path.exists() else 0o666 & ~_umask()
    number, name = tempfile.mkstemp(prefix=UNFINISHED, dir=path.parent)
    try:
        with open(number, **{"mode": "w", **options}) as file:
            yield file
            file.flush()
            os.fsync(number)  # or the name could outlive a crash, and the content not
        os.chmod(name, mode)
        if overwrite:
            os.replace(name, path)
        else:
            _name_unless_taken(name, path)
    except OSError as error:
        if error.errno is None or error.filename not in (None, name):
            raise
        raise type(error)(error.errno, error.strerror, str(path)) from error
    finally:
        Path(name).unlink(missing_ok=True)


def write_texts(texts: Mapping[Path, str], *, overwrite: bool) -> None:
    """Write texts to files: all of them or, if one cannot be written, none."""
    options: dict[str, Any] = {"encoding": "utf-8", "newline": ""}
    with ExitStack() as files:
        for path, text in texts.items():
            file = files.enter_context(whole_file(path, overwrite=overwrite, **options))
            file.write(text)
            file.flush()


def _name_unless_taken(name: str, path: Path) -> None:
    """Give a file its name, and raise if there is another one by now."""
    try:
        os.link(name, path)  # unlike a rename, fails if the file exists by now
    except OSError as error:
        if isinstance(error, FileExistsError) or error.errno in _NO_LINKS:
            check_writable(path, overwrite=False)
        if error.errno not in _NO_LINKS:
            raise
        os.replace(name, path)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
