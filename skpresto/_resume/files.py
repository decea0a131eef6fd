"""Files that are either complete or not there."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from pickle import UnpicklingError
from typing import IO, Any

import torch

#: Written first, so that no other folder is taken for one of resumable fits.
MARKER = "skpresto-resume.json"


def write_state(path: Path, state: dict[str, Any]) -> None:
    """Write tensors and numbers so that a kill leaves the previous file or this one."""
    _replace(path, lambda file: torch.save(state, file))


def write_json(path: Path, content: dict[str, Any]) -> None:
    """Write a small dict in the same way."""
    text = json.dumps(content, indent=1).encode()
    _replace(path, lambda file: file.write(text))


def _replace(path: Path, write: Callable[[IO[bytes]], Any]) -> None:
    part = path.with_name(f"{path.name}.part")
    try:
        with open(part, "wb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)
    except RuntimeError as error:  # torch's, if the disk is full
        raise OSError(f"{path} cannot be written: {error}") from error
    finally:
        part.unlink(missing_ok=True)


def read_state(path: Path | IO[bytes], device: Any) -> dict[str, Any]:
    """Read what :func:`write_state` wrote. No code of the file is run."""
    try:
        return torch.load(path, map_location=device, weights_only=True)
    except OSError as error:
        raise _unreadable(path, error) from error
    except (RuntimeError, EOFError, UnpicklingError, KeyError) as error:
        raise _incomplete(path, "state", error) from error


def read_json(path: Path) -> dict[str, Any]:
    """Read what :func:`write_json` wrote."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise _unreadable(path, error) from error
    except ValueError as error:  # neither JSON nor text
        raise _incomplete(path, "description", error) from error
    if not isinstance(content, dict):
        raise _incomplete(path, "description", TypeError())
    return content


def _unreadable(path: Any, error: OSError) -> OSError:
    return type(error)(
        f"{path} of a resumable fit cannot be read: {error.strerror or error}. Restore "
        "it, or delete its folder, and the fit begins anew."
    )


def _incomplete(path: Any, what: str, error: Exception) -> ValueError:
    return ValueError(
        f"{path} is not a complete {what} of a fit ({type(error).__name__}). Delete "
        "its folder, and the fit begins anew."
    )
