"""The folder of resumable fits: entered by a block, locked, and removed in the end."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from skpresto._resume.files import MARKER, read_json, write_json
from skpresto._resume.fingerprint import changed, fingerprint
from skpresto._resume.journal import FitJournal
from skpresto._training.context import context_with, current_context
from skpresto._training.request import FitRequest
from skpresto._warn import warn_caller
from skpresto.exceptions import ResumeWarning

#: Of the files in a folder. Others are not read.
_FORMAT = 1


class ResumeFolder:
    """Number the fits of a block, and give each a journal.

    Parameters
    ----------
    path : Path
        The folder.
    every : float
        Least number of seconds between two writes of a fit.
    """

    def __init__(self, path: Path, every: float) -> None:
        self.path = path
        self.every = every
        self._journals: list[FitJournal] = []
        self._n_fits = 0

    def begin_fit(
        self, estimator: Any, request: FitRequest, seed: int
    ) -> tuple[FitJournal | None, int]:
        """Return the journal of the next fit, and the seed that it began with."""
        self._n_fits += 1
        folder = self.path / f"fit-{self._n_fits:05d}"
        description = folder / "fit.json"
        now = fingerprint(estimator, request)
        if description.exists():
            stored = read_json(description)
            self._check_same(estimator, stored["fingerprint"], now)
            seed = stored["seed"]
        else:
            try:
                folder.mkdir(exist_ok=True)
                write_json(description, {"seed": seed, "fingerprint": now})
            except OSError as error:
                warn_caller(
                    f"The progress of {type(estimator).__name__} will not be stored, "
                    f"since {folder} cannot be written: {error.strerror or error}. "
                    "Training goes on; if it is killed, this fit begins anew.",
                    ResumeWarning,
                )
                return None, seed
        journal = FitJournal(folder, self.every)
        self._journals.append(journal)
        return journal, seed

    @property
    def is_interrupted(self) -> bool:
        """Whether Ctrl-C ended one of the fits, which can be completed later."""
        return any(journal.is_interrupted for journal in self._journals)

    def _check_same(
        self, estimator: Any, before: dict[str, str], now: dict[str, str]
    ) -> None:
        differing = changed(before, now)
        if differing:
            raise ValueError(
                f"{type(estimator).__name__} cannot resume fit {self._n_fits} in "
                f"{self.path}, which is of another fit of {before['class']}: "
                f"{', '.join(differing)} changed. Use another folder, or delete this "
                "one to begin anew."
            )

    def remove(self) -> None:
        """Delete what was written; the fits are complete, so a failure is no error."""
        try:
            for fit in self.path.glob("fit-[0-9][0-9][0-9][0-9][0-9]"):
                shutil.rmtree(fit)
            (self.path / MARKER).unlink(missing_ok=True)
        except OSError as error:
            warn_caller(
                f"{self.path} could not be deleted: {error.strerror or error}. Delete "
                "it, or the next run reads the fits from it.",
                ResumeWarning,
            )


@contextmanager
def resumable(
    folder: str | os.PathLike, *, keep: bool = False, every: float = 30.0
) -> Iterator[None]:
    """Store the progress of fits in a folder, so that killed ones can be resumed.

    If the process is killed, run the same program again: completed stages are read from
    the folder, the interrupted one continues after the last epoch that was stored, and
    the result is the same, bit for bit, as without the interruption.

    Parameters
    ----------
    folder : path-like
        A folder for this block alone. It is created if necessary, and deleted when the
        block ends without an error, unless a fit in it was interrupted inside of
        :func:`keep_interrupted`: the next run then completes that fit.
    keep : bool, default=False
        Whether to keep the folder. Running the block again then reads all fits from it.
    every : float, default=30.0
        Least number of seconds between two writes. 0 stores every epoch.

    Notes
    -----
    Fits in the block are numbered, so a search in one process (``n_jobs=None``) can be
    resumed too. Fits in worker processes or in other threads are not stored.

    Stored are networks, optimizer, learning-rate schedules, predictions, records,
    skorch's history and the random state. Of callbacks other than schedules nothing is
    stored: after a resume they see the remaining epochs only.

    Files are read with ``torch.load(weights_only=True)``, which runs no code. A folder
    of another fit (class, parameters, data or versions) is refused. Of a memory map or
    Dataset, 64 rows are compared.

    Examples
    --------
    >>> import tempfile, skpresto
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = skpresto.DefaultClassifier(max_epochs=3, random_state=0)
    >>> with tempfile.TemporaryDirectory() as parent:
    ...     with skpresto.resumable(f"{parent}/iris"):
    ...         clf = clf.fit(X, y)
    >>> clf.n_epochs_
    3
    """
    _check_every(every)
    if not current_context().team.is_first:  # the first process stores for all
        yield
        return
    path = _prepared(folder)
    lock = _locked(path)
    try:
        active = ResumeFolder(path, every)
        with context_with(folder=active):
            yield
        if active.is_interrupted and not keep:
            keep = True
            warn_caller(
                f"{path} is kept, since a fit in it was interrupted. Run the program "
                "again to complete the fit, or delete the folder.",
                ResumeWarning,
            )
        if not keep:
            active.remove()
    finally:
        lock.release()
    if not keep:
        with suppress(OSError):  # something of the user's is in it
            (path / ".lock").unlink(missing_ok=True)
            path.rmdir()


def _check_every(every: Any) -> None:
    if not isinstance(every, (int, float)) or not every >= 0:
        raise ValueError(
            "resumable needs every to be a number of seconds, at least 0, got "
            f"{every!r}."
        )


def _locked(path: Path) -> Any:
    """Return the lock of a folder, acquired; it is released when the process ends."""
    lock = FileLock(path / ".lock", timeout=0)
    try:
        lock.acquire()
    except Timeout as error:
        raise RuntimeError(
            f"{path} is in use by another process. Wait until it has ended, or use "
            "another folder. Processes that train together enter data_parallel first."
        ) from error
    except OSError as error:
        raise _not_writable(path, error) from error
    return lock


def _prepared(folder: str | os.PathLike) -> Path:
    """Return the absolute path of a folder that exists and is one of ours."""
    try:
        path = Path(folder).absolute()
    except TypeError as error:
        raise TypeError(
            f"resumable needs folder to be a path, as str or pathlib.Path, got "
            f"{folder!r}."
        ) from error
    marker = path / MARKER
    try:
        path.mkdir(parents=True, exist_ok=True)
        if not marker.exists():
            # A process may have been killed while it wrote the marker.
            ours = {".lock", f"{MARKER}.part"}
            if {entry.name for entry in path.iterdir()} - ours:
                raise ValueError(
                    f"resumable needs a folder for itself, but {path} contains other "
                    "files. Give the name of a new folder."
                )
            write_json(marker, {"format": _FORMAT})
    except OSError as error:
        raise _not_writable(path, error) from error
    if read_json(marker).get("format") != _FORMAT:
        raise ValueError(
            f"{path} was written by another version of skpresto. Use another folder, "
            "or delete this one to begin anew."
        )
    return path


def _not_writable(path: Path, error: OSError) -> OSError:
    return type(error)(
        f"resumable cannot write to the folder {path}: {error.strerror or error}. "
        "Choose another one."
    )
