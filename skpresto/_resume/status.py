"""What is stored of the fits in a folder."""

import os
import time
from dataclasses import dataclass
from pathlib import Path

from skpresto._resume.files import MARKER, key_of, read_json
from skpresto._resume.journal import latest_stage


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
    if not (path / MARKER).exists():
        raise ValueError(
            f"{path} is not a folder of skpresto.resumable, or the block has ended and "
            "deleted it."
        )
    fits = sorted(path.glob("fit-[0-9][0-9][0-9][0-9][0-9]/fit.json"))
    return [_status(file) for file in fits]


def _status(description: Path) -> FitStatus:
    stored = read_json(description)
    folder = description.parent
    reached = latest_stage(folder, key_of(stored)) or {"stage": None, "n_epochs": 0}
    newest = max(file.stat().st_mtime for file in folder.iterdir())
    return FitStatus(
        number=int(folder.name.removeprefix("fit-")),
        classifier=stored["classifier"],
        age=time.time() - newest,
        **reached,
    )
