"""Outputs are neither an input nor one another, whatever they are called."""

import os
import tempfile
from collections.abc import Iterable, Mapping
from itertools import combinations
from pathlib import Path
from unicodedata import normalize

from skpresto.audit._safe_write import UNFINISHED


def check_separate(
    outputs: Mapping[str, Path], inputs: Mapping[str, Iterable[Path]]
) -> None:
    """Raise if an output is one of the inputs, or two outputs are one file.

    Parameters
    ----------
    outputs : dict of str to Path
        Files to be written, by the option that names them.
    inputs : dict of str to iterable of Path
        Files to be read, by the argument that names them.
    """
    for option, out in outputs.items():
        for argument, paths in inputs.items():
            same = next((path for path in paths if same_file(out, path)), None)
            if same is not None:
                raise ValueError(
                    f"{option} {out} is the same file as {argument}: {same} is never "
                    f"overwritten. Choose another name for {option}."
                )
    for (option, out), (other, path) in combinations(outputs.items(), 2):
        if same_file(out, path):
            raise ValueError(
                f"{other} {path} is the same file as {option} {out}, so that one would "
                f"replace the other. Choose another name for {other}."
            )


def same_file(first: Path, second: Path) -> bool:
    """Return whether two paths are one file, or would be if they were written.

    Links of all kinds are followed, and names in other letters are the same where the
    file system takes them for the same.
    """
    exists = [os.path.exists(path) for path in (first, second)]
    if any(exists):
        return all(exists) and os.path.samefile(first, second)
    one, other = (Path(os.path.realpath(path)) for path in (first, second))
    if one == other:
        return True
    if not (one.parent.is_dir() and other.parent.is_dir()):
        return False
    if not os.path.samefile(one.parent, other.parent):
        return False
    if one.name == other.name:
        return True
    return _folded(one) == _folded(other) and _folds_case(one.parent)


def _folded(path: Path) -> str:
    return normalize("NFC", normalize("NFC", path.name).casefold())


def _folds_case(folder: Path) -> bool:
    """Return whether names in other letters are the same file in a folder."""
    try:
        with tempfile.NamedTemporaryFile(prefix=UNFINISHED, dir=folder) as probe:
            return os.path.exists(folder / Path(probe.name).name.upper())
    except OSError:  # nothing can be written there, which is told elsewhere
        return False
