"""The folder of resumable fits: entered by a block, locked, and removed in the end."""

import json
import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from skpresto._engine.journal import Journal, NoJournal
from skpresto._engine.rows import TrainingData
from skpresto._engine.team import active_team
from skpresto._resume.files import write_json
from skpresto._resume.fingerprint import changed, fingerprint
from skpresto._resume.journal import FitJournal, latest_stage

#: Written first, so that no other folder is taken for one of these.
_MARKER = "skpresto-resume.json"
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
        self._n_fits = 0

    def begin_fit(
        self, estimator: Any, data: TrainingData, seed: int
    ) -> tuple[FitJournal, int]:
        """Return the journal of the next fit, and the seed that it began with."""
        self._n_fits += 1
        folder = self.path / f"fit-{self._n_fits:05d}"
        description = folder / "fit.json"
        now = fingerprint(estimator, data)
        if description.exists():
            stored = json.loads(description.read_text(encoding="utf-8"))
            self._check_same(estimator, stored["fingerprint"], now)
            seed = stored["seed"]
        else:
            folder.mkdir(exist_ok=True)
            write_json(description, {"seed": seed, "fingerprint": now})
        return FitJournal(folder, self.every), seed

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
        """Delete what was written, and the folder if nothing else is in it."""
        for fit in self.path.glob("fit-[0-9][0-9][0-9][0-9][0-9]"):
            shutil.rmtree(fit)
        (self.path / _MARKER).unlink(missing_ok=True)


_ACTIVE: ContextVar[ResumeFolder | None] = ContextVar("skpresto_resume", default=None)


def begin_fit(estimator: Any, data: TrainingData, seed: int) -> tuple[Journal, int]:
    """Return the journal of a fit, which is empty outside a block, and its seed."""
    folder = _ACTIVE.get()
    if folder is None or not active_team().is_first:
        return NoJournal(), seed
    return folder.begin_fit(estimator, data, seed)


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
        block ends without an error.
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
    if not every >= 0:
        raise ValueError(
            f"resumable needs every to be a number of seconds, at least 0, got {every}."
        )
    if not active_team().is_first:  # the first process stores for all
        yield
        return
    path = _prepared(Path(folder))
    lock = FileLock(path / ".lock", timeout=0)
    try:
        lock.acquire()
    except Timeout as error:
        raise RuntimeError(
            f"{path} is in use by another process. Wait until it has ended, or use "
            "another folder. Processes that train together enter data_parallel first."
        ) from error
    try:
        active = ResumeFolder(path, every)
        token = _ACTIVE.set(active)
        try:
            yield
        finally:
            _ACTIVE.reset(token)
        if not keep:
            active.remove()
    finally:
        lock.release()
    if not keep:
        (path / ".lock").unlink(missing_ok=True)
        with suppress(OSError):  # something of the user's is in it
            path.rmdir()


def _prepared(path: Path) -> Path:
    """Return the absolute path of a folder that exists and is one of ours."""
    path = path.absolute()
    marker = path / _MARKER
    try:
        path.mkdir(parents=True, exist_ok=True)
        if not marker.exists():
            # A process may have been killed while it wrote the marker.
            ours = {".lock", f"{_MARKER}.part"}
            if {entry.name for entry in path.iterdir()} - ours:
                raise ValueError(
                    f"resumable needs a folder for itself, but {path} contains other "
                    "files. Give the name of a new folder."
                )
            write_json(marker, {"format": _FORMAT})
    except OSError as error:
        raise type(error)(
            f"resumable cannot write to the folder {path}: {error.strerror}. Choose "
            "another one."
        ) from error
    if json.loads(marker.read_text(encoding="utf-8"))["format"] != _FORMAT:
        raise ValueError(
            f"{path} was written by another version of skpresto. Use another folder, "
            "or delete this one to begin anew."
        )
    return path


@dataclass(frozen=True)
class FitStatus:
    """What is stored of one fit.

    Parameters
    ----------
    number : int
        Position of the fit in its block, from 1.
    classifier : str
        Name of the class.
    stage : str or None
        The latest stage of training of which an epoch is stored.
    n_epochs : int
        Number of epochs of that stage that are stored.
    age : float
        Seconds since the last write.
    """

    number: int
    classifier: str
    stage: str | None
    n_epochs: int
    age: float


def resume_status(folder: str | os.PathLike) -> list[FitStatus]:
    """Return what is stored in a folder of :func:`resumable`, one entry per fit.

    Parameters
    ----------
    folder : path-like
        The folder, also while a fit is running in it.

    Returns
    -------
    fits : list of FitStatus
        Empty if nothing is stored.
    """
    path = Path(folder)
    if not (path / _MARKER).exists():
        raise ValueError(
            f"{path} is not a folder of skpresto.resumable, or the block has ended and "
            "deleted it."
        )
    fits = sorted(path.glob("fit-[0-9][0-9][0-9][0-9][0-9]/fit.json"))
    return [_status(file) for file in fits]


def _status(description: Path) -> FitStatus:
    stored = json.loads(description.read_text(encoding="utf-8"))
    folder = description.parent
    reached = latest_stage(folder) or {"stage": None, "n_epochs": 0}
    newest = max(file.stat().st_mtime for file in folder.iterdir())
    return FitStatus(
        number=int(folder.name.removeprefix("fit-")),
        classifier=stored["fingerprint"]["class"],
        age=time.time() - newest,
        **reached,
    )
