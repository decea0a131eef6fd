"""Find the files of a data set, and the errors for missing or damaged files."""

import os
from dataclasses import dataclass
from os.path import exists, isdir, isfile
from pathlib import Path

#: Environment variable with the folder of all data sets.
DATA_VARIABLE = "SKPRESTO_DATA"


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
    below : tuple of str
        Folders in it in which its files can be.
    """

    loader: str
    title: str
    home: str
    folders: tuple[str, ...] = ()
    below: tuple[str, ...] = ()

    def find(self, folder: str | os.PathLike | None, *markers: str) -> Path:
        """Return the folder with one of ``markers``, files or folders ending in "/"."""
        base = self.base(folder)
        usual = {_plain(name) for name in self.folders}
        named = [path for path in self.entries(base) if _plain(path.name) in usual]
        for place in (*named, base):
            for candidate in (place, *(place / name for name in self.below)):
                if any(_is_there(candidate, marker) for marker in markers):
                    return candidate
        below = f" or in folders in it with names like {', '.join(self.folders)}"
        closed = [str(p) for p in named if not os.access(p, os.R_OK | os.X_OK)]
        below += f", and cannot read {closed}" if closed else ""
        raise self.missing(" or ".join(map(repr, markers)), base, below)

    def file(self, folder: Path, name: str) -> Path:
        """Return the path of a file, and raise if it is not in ``folder``."""
        path = folder / name
        if not isfile(path):
            raise self.missing(repr(name), folder)
        return path

    def read_bytes(self, path: Path) -> bytes:
        """Return the content of a file."""
        try:
            return path.read_bytes()
        except OSError as error:
            raise self.unreadable(path, error) from None

    def read_text(self, path: Path) -> str:
        """Return the content of a text file."""
        try:
            return self.read_bytes(path).decode("utf-8")
        except UnicodeDecodeError as error:
            raise self.damaged(path, f"it is not text in UTF-8 ({error})") from None

    def entries(self, folder: Path) -> list[Path]:
        """Return what is in a folder, sorted by name."""
        try:
            return sorted(folder.iterdir())
        except OSError as error:
            raise self.unreadable(folder, error) from None

    def base(self, folder: str | os.PathLike | None) -> Path:
        """Return the given folder, or the one of the environment variable."""
        chosen = os.environ.get(DATA_VARIABLE) if folder is None else folder
        if not chosen:
            raise FileNotFoundError(
                f"{self.loader} needs a folder to read from, but folder is None and "
                f"the environment variable {DATA_VARIABLE} is not set. {self._way_out}"
            )
        path = as_path(self.loader, "folder", chosen)
        if not isdir(path):
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

    def unreadable(self, path: Path, error: OSError) -> OSError:
        """Return the error for a file or folder that cannot be opened."""
        return type(error)(
            f"{self.loader} cannot read {str(path)!r}: {error.strerror or error}. "
            "Check its permissions and the disk, or pass another folder."
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


def as_path(loader: str, name: str, value: str | os.PathLike) -> Path:
    """Return an argument as a path, and raise if it cannot be one."""
    try:
        return Path(value).expanduser()
    except (TypeError, RuntimeError) as error:
        raise type(error)(
            f"{loader} needs {name} to be a path, as str or pathlib.Path, but got "
            f"{value!r}."
        ) from None


def in_data_folder(path: Path) -> Path:
    """Return a path, or the one in the folder of all data sets if only that exists."""
    below = Path(os.environ.get(DATA_VARIABLE, "")).expanduser() / path
    return below if exists(below) and not exists(path) else path


def _is_there(folder: Path, marker: str) -> bool:
    return (isdir if marker.endswith("/") else isfile)(folder / marker)


def _plain(name: str) -> str:
    return "".join(filter(str.isalnum, name.lower()))
