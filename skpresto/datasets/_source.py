"""Find the files of a data set, and the errors for missing or damaged files."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

#: Environment variable with the folder of all data sets.
DATA_VARIABLE = "SKPRESTO_DATA"

#: How many levels below the given folder are searched.
_MAX_DEPTH = 3


@dataclass(frozen=True)
class Source:
    """A data set as it is published.

    Parameters
    ----------
    loader : str
        Name of the function that reads it, for error messages.
    title : str
        Name of the data set.
    home : str
        Where it can be downloaded.
    folders : tuple of str
        Usual names of its folder. Case, hyphens and underscores are ignored.
    """

    loader: str
    title: str
    home: str
    folders: tuple[str, ...] = ()

    def find(self, folder: str | os.PathLike | None, *markers: str) -> Path:
        """Return the folder with one of ``markers``, files or folders ending in "/"."""
        base = self.base(folder)
        for candidate in self._candidates(base):
            if any(_is_there(candidate, marker) for marker in markers):
                return candidate
        below = f" or in folders below it with names like {', '.join(self.folders)}"
        raise self.missing(" or ".join(map(repr, markers)), base, below)

    def file(self, folder: Path, name: str) -> Path:
        """Return the path of a file, and raise if it is not in ``folder``."""
        path = folder / name
        if not path.is_file():
            raise self.missing(repr(name), folder)
        return path

    def base(self, folder: str | os.PathLike | None) -> Path:
        """Return the given folder, or the one of the environment variable."""
        chosen = os.environ.get(DATA_VARIABLE) if folder is None else folder
        if not chosen:
            raise FileNotFoundError(
                f"{self.loader} needs a folder to read from, but folder is None and "
                f"the environment variable {DATA_VARIABLE} is not set. {self._way_out}"
            )
        path = Path(chosen).expanduser()
        if not path.is_dir():
            raise FileNotFoundError(
                f"{self.loader} needs a folder to read {self.title} from, but "
                f"{str(path)!r} is not a folder. {self._way_out}"
            )
        return path

    def missing(self, what: str, folder: Path, below: str = "") -> FileNotFoundError:
        """Return the error for a file that is not in ``folder``."""
        return FileNotFoundError(
            f"{self.loader} needs {what} of {self.title}, but did not find it in "
            f"{str(folder)!r}{below}. {self._way_out}"
        )

    def damaged(self, path: Path, why: str) -> ValueError:
        """Return the error for a file with invalid content."""
        return ValueError(
            f"{self.loader} cannot use {str(path)!r}: {why}. Download the file again "
            f"from {self.home}."
        )

    @property
    def _way_out(self) -> str:
        return (
            f"Download it from {self.home}, unpack it, and pass its folder or set "
            f"{DATA_VARIABLE}."
        )

    def _candidates(self, base: Path) -> Iterator[Path]:
        """Yield folders to search: those of the usual names before the base."""
        usual = {_plain(name) for name in self.folders}
        level = [base]
        for depth in range(_MAX_DEPTH):
            level = [child for parent in level for child in _folders_in(parent)]
            yield from (child for child in level if _plain(child.name) in usual)
            if depth == 0:
                yield base


def _is_there(folder: Path, marker: str) -> bool:
    path = folder / marker
    return path.is_dir() if marker.endswith("/") else path.is_file()


def _plain(name: str) -> str:
    return "".join(filter(str.isalnum, name.lower()))


def _folders_in(parent: Path) -> list[Path]:
    with os.scandir(parent) as entries:
        return sorted(Path(entry.path) for entry in entries if entry.is_dir())
