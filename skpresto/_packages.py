"""Packages that are no dependencies: a sentence for users who do not have them."""

from collections.abc import Iterator
from contextlib import contextmanager

#: Names for users, by the name that is imported.
_NAMES = {"jinja2": "Jinja2", "PIL": "Pillow"} | {
    name: name for name in ("matplotlib", "pandas", "pyarrow", "rich", "skrub")
}


@contextmanager
def needed_by(what: str, extra: str) -> Iterator[None]:
    """Say how a package is installed that is not found inside this block.

    Parameters
    ----------
    what : str
        What needs the packages, as the subject of the sentence.
    extra : str
        The extra of skpresto that installs them.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        package = _NAMES.get((error.name or "").partition(".")[0])
        if package is None:
            raise
        raise ImportError(
            f"{what} needs {package}. Install it with 'python -m pip install "
            f'"skpresto[{extra}]"\', or with "python -m pip install \'.[{extra}]\'" in '
            "a checkout of skpresto."
        ) from error
