"""Packages of the extra ``audit``: a sentence for users who do not have them."""

from collections.abc import Iterator
from contextlib import contextmanager

#: Packages that are no dependencies of skpresto itself, by the name they are imported.
PACKAGES = {
    "jinja2": "Jinja2",
    "pandas": "pandas",
    "PIL": "Pillow",
    "pyarrow": "pyarrow",
    "rich": "rich",
    "skrub": "skrub",
}


@contextmanager
def of_the_extra(what: str) -> Iterator[None]:
    """Say how a package is installed that is not found inside this block.

    Parameters
    ----------
    what : str
        What needs the packages, as the subject of the sentence.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        package = PACKAGES.get((error.name or "").partition(".")[0])
        if package is None:
            raise
        raise ImportError(
            f"{what} needs {package}. Install it with 'python -m pip install "
            '"skpresto[audit]"\', or with "python -m pip install \'.[audit]\'" in a '
            "checkout of skpresto."
        ) from error
