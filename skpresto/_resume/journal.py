"""The journal of a fit: the latest states of each stage of training."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from skpresto._resume.files import (
    UNFINISHED,
    DamagedFile,
    read_bytes,
    state_from,
    write_state,
)
from skpresto._training.stage import StageRun
from skpresto._warn import warn_caller
from skpresto.exceptions import ResumeWarning

#: Stands for the state of a stage among the epochs whose checkpoints are kept.
LATEST = -1
#: States of a stage that are kept: the latest, and one to go back to.
_N_KEPT = 2


class FitJournal:
    """Store the state of each stage of a fit, and resume from it.

    Only stages of training take long, so only they are stored. A resumed fit is carried
    out from the top with the same seed; a stage with a stored state continues from
    there, or ends at once, and what is between the stages is computed again.

    Parameters
    ----------
    folder : Path
        Folder of this fit.
    every : float
        Least number of seconds between two writes.
    key : str
        Tells files of this fit from those of others.
    """

    def __init__(self, folder: Path, every: float, key: str) -> None:
        self.folder = folder
        self.every = every
        self.key = key
        self._n_runs = 0
        self.is_interrupted = False
        self._written_at = time.monotonic()
        #: Numbers of epochs of the states that are stored, and their contenders.
        self._stored: dict[int, set[int]] = {}
        for part in folder.glob(f"*{UNFINISHED}"):  # of a process that was killed
            part.unlink(missing_ok=True)

    def resume(self, run: StageRun) -> None:
        """Put the stage that begins into its stored state, if there is one."""
        put_back(run, self.begin())

    def begin(self) -> dict[int, bytes]:
        """Begin a stage; return what is stored of it.

        Returns
        -------
        contents : dict
            The latest undamaged state, for the key :data:`LATEST`, and the checkpoints
            of epochs that may become the stop point. Empty if nothing is stored.

        Raises
        ------
        DamagedFile
            If something is stored, and nothing undamaged to go back to.
        """
        self._n_runs += 1
        self._stored = {}
        damage: Exception | None = None
        for n_epochs, path in states_of(self.folder, self._n_runs):
            try:
                contents = self._read(path)
            except (DamagedFile, FileNotFoundError) as error:
                damage = damage or error
                continue
            self._stored[n_epochs] = contents.keys() - {LATEST}
            if damage is not None:
                self._warn_of(damage, f"the state after epoch {n_epochs} of this stage")
            return contents
        if damage is not None:
            if self._n_runs == 1:
                raise damage
            self._warn_of(damage, "the end of the stage before")
        return {}

    def _warn_of(self, damage: Exception, where: str) -> None:
        cause = str(damage).partition(" Restore it")[0]
        warn_caller(
            f"{cause} The fit goes back to {where}, the last that is not damaged, and "
            "ends with the same result.",
            ResumeWarning,
        )

    def _read(self, path: Path) -> dict[int, bytes]:
        """Return a state and the checkpoints that it refers to, all undamaged."""
        contents = {LATEST: read_bytes(path, self.key)}
        for epoch in state_from(contents[LATEST], "cpu")["contenders"]:
            contents[epoch] = read_bytes(self._contender_path(epoch), self.key)
        return contents

    def save(self, run: StageRun) -> None:
        """Store the state after an epoch, unless the last write was a moment ago."""
        if time.monotonic() - self._written_at < self.every:
            return
        try:
            self._write(run)
        except OSError as error:
            warn_caller(
                f"The progress of this fit could not be stored in {self.folder}: "
                f"{error}. Training goes on; if it is killed, it resumes from the last "
                "state that could be stored.",
                ResumeWarning,
            )
        self._written_at = time.monotonic()

    def interrupted(self) -> None:
        """Note that Ctrl-C ended the fit, so that its folder is kept."""
        self.is_interrupted = True

    def _write(self, run: StageRun) -> None:
        state, n_epochs = run.state_dict(), len(run.records)
        contenders = set(state["contenders"])
        # First what the state refers to, last what only earlier ones needed.
        for epoch in contenders.difference(*self._stored.values()):
            write_state(self._contender_path(epoch), run.contender(epoch), self.key)
        write_state(self._state_path(n_epochs), state, self.key)
        before = sorted(self._stored)[1 - _N_KEPT :]
        self._stored = {n: self._stored[n] for n in before} | {n_epochs: contenders}
        self._remove_others()

    def _remove_others(self) -> None:
        """Remove what no state that is kept needs, such as a damaged one."""
        kept = {self._state_path(n_epochs) for n_epochs in self._stored}
        for epoch in set().union(*self._stored.values()):
            kept.add(self._contender_path(epoch))
        for path in self.folder.glob(f"{self._name}-*.pt"):
            if path not in kept:
                path.unlink(missing_ok=True)

    @property
    def _name(self) -> str:
        return f"run-{self._n_runs:04d}"

    def _state_path(self, n_epochs: int) -> Path:
        return self.folder / f"{self._name}-after-{n_epochs:05d}.pt"

    def _contender_path(self, epoch: int) -> Path:
        return self.folder / f"{self._name}-epoch-{epoch + 1:05d}.pt"


def states_of(folder: Path, n_run: int) -> Iterator[tuple[int, Path]]:
    """Yield number of epochs and file of each state of a stage, the latest first."""
    for path in sorted(folder.glob(f"run-{n_run:04d}-after-*.pt"), reverse=True):
        yield int(path.stem.rpartition("-")[2]), path


def put_back(run: StageRun, contents: dict[int, bytes]) -> None:
    """Put a stage into the state that was read from its files, if there is one."""
    device = run.trainer.net.device
    states = {epoch: state_from(content, device) for epoch, content in contents.items()}
    if not states:
        return
    state = states.pop(LATEST)
    stored = state["stage"], len(state["recorders"])
    if stored != (run.stage.name, len(run.trainer.recorders_of(run.stage))):
        raise ValueError(
            f"The fit cannot go on in {run.stage.name!r}, since what was stored is "
            f"{stored[0]!r} of a fit that records other things, such as one inside of "
            "a label audit. Fit as before, or use another folder."
        )
    run.load_state_dict(state, states)


def latest_stage(folder: Path, key: str) -> dict[str, Any] | None:
    """Return the stage that a fit has reached, and the epochs of it that are stored.

    Damaged states are left out, as the fit will do.
    """
    for path in sorted(folder.glob("run-*-after-*.pt"), reverse=True):
        try:
            state = state_from(read_bytes(path, key), "cpu")
        except (DamagedFile, FileNotFoundError):
            continue
        return {"stage": state["stage"], "n_epochs": len(state["records"])}
    return None
