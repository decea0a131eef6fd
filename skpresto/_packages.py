"""Packages that may not be installed: a sentence for users who do not have them."""

from collections.abc import Iterator
from contextlib import contextmanager

#: Names for users, by the name that is imported.
_NAMES = {"jinja2": "Jinja2", "PIL": "Pillow"} | {
    name: name
    for name in ("matplotlib", "pandas", "pyarrow", "rapidfuzz", "rich", "skrub")
}
#: Dependencies that audits without a network do not need.
_OF_NETWORKS = ("torch", "skorch", "filelock", "tqdm")


@contextmanager
def needed_by(what: str, extra: str | None = None) -> Iterator[None]:
    """Say how a package is installed that is not found inside this block.

    Parameters
    ----------
    what : str
        What needs the packages, as the subject of the sentence.
    extra : str, default=None
        The extra of skpresto that installs them. None is for networks, whose packages
        are dependencies and were left out on purpose.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        module = (error.name or "").partition(".")[0]
        if module in _OF_NETWORKS and extra is None:
            raise ImportError(
                f"{what} needs {module}, which is not installed. Install it with "
                "'python -m pip install skpresto', or with 'python -m pip install .' "
                "in a checkout of skpresto."
            ) from error
        package = _NAMES.get(module)
        if package is None:
            raise
        raise ImportError(
            f"{what} needs {package}. Install it with 'python -m pip install "
            f'"skpresto[{extra}]"\', or with "python -m pip install \'.[{extra}]\'" in '
            "a checkout of skpresto."
        ) from error
