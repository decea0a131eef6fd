"""The folder of resumable fits: entered by a block, locked, and removed in the end."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from skpresto._resume.files import MARKER, UNFINISHED, key_of, read_json, write_json
from skpresto._resume.fingerprint import Fingerprint, changed, fingerprint, machine
from skpresto._resume.journal import FitJournal
from skpresto._training.context import context_with, current_context
from skpresto._training.request import FitRequest
from skpresto._warn import warn_caller
from skpresto.exceptions import ResumeWarning


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
            self._check_same(estimator, stored, now)
        elif reason := _why_not_resumable(now):
            _warn_not_stored(estimator, reason)
            return None, seed
        else:
            stored = {
                "classifier": type(estimator).__name__,
                "seed": seed,
                "machine": machine(),
                "fingerprint": now.entries,
            }
            try:
                folder.mkdir(exist_ok=True)
                write_json(description, stored)
            except OSError as error:
                cause = error.strerror or error
                _warn_not_stored(estimator, f"{folder} cannot be written: {cause}. ")
                return None, seed
        journal = FitJournal(folder, self.every, key_of(stored))
        self._journals.append(journal)
        return journal, stored["seed"]

    @property
    def is_interrupted(self) -> bool:
        """Whether Ctrl-C ended one of the fits, which can be completed later."""
        return any(journal.is_interrupted for journal in self._journals)

    def _check_same(
        self, estimator: Any, stored: dict[str, Any], now: Fingerprint
    ) -> None:
        if differing := changed(stored["fingerprint"], now.entries):
            raise ValueError(
                f"{type(estimator).__name__} cannot resume fit {self._n_fits} in "
                f"{self.path}, which is of another fit of {stored['classifier']}: "
                f"{', '.join(differing)} changed. Use another folder, or delete this "
                "one to begin anew."
            )
        if differing := changed(stored["machine"], machine()):
            warn_caller(
                f"Fit {self._n_fits} in {self.path} was begun on another machine: "
                f"{', '.join(differing)}. It goes on, but the last bits of the result "
                "may differ from those of a fit on one machine.",
                ResumeWarning,
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


def _why_not_resumable(now: Fingerprint) -> str:
    """Return why a fit cannot be compared with a later one, or nothing."""
    if now.unknown:
        return (
            "it cannot be compared by value with the fit of a later run: "
            f"{_listed(now.unknown)}. Leave that out, or give its class a "
            "__getstate__() that returns what it depends on, as for pickle. "
        )
    if now.generators:
        return (
            "what was drawn from random generators of yours is not stored: "
            f"{_listed(now.generators)}. Leave them out, and random_state seeds what "
            "is drawn instead. "
        )
    return ""


def _listed(names: list[str], most: int = 5) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def _warn_not_stored(estimator: Any, reason: str) -> None:
    warn_caller(
        f"The progress of {type(estimator).__name__} will not be stored, since "
        f"{reason}Training goes on; if it is killed, this fit begins anew.",
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

    A folder of another fit is refused, and the error names what differs: class,
    parameters, data, versions or settings of torch. All of it is compared by value; if
    that is not possible, as for an open file, a warning says so when the fit begins,
    and its progress is not stored.

    Files have checksums, and are read with ``torch.load(weights_only=True)``, which
    runs no code. If one is damaged, the fit goes back to the last undamaged state, with
    a warning; without any, it is refused.

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
            ours = {".lock", f"{MARKER}{UNFINISHED}"}
            if {entry.name for entry in path.iterdir()} - ours:
                raise ValueError(
                    f"resumable needs a folder for itself, but {path} contains other "
                    "files. Give the name of a new folder."
                )
            write_json(marker, {})
    except OSError as error:
        raise _not_writable(path, error) from error
    read_json(marker)  # raises if it is damaged
    return path


def _not_writable(path: Path, error: OSError) -> OSError:
    return type(error)(
        f"resumable cannot write to the folder {path}: {error.strerror or error}. "
        "Choose another one."
    )
