"""The journal of a fit: one file per stage of training, with its latest state."""

import time
from pathlib import Path
from typing import Any

from skpresto._resume.files import read_state, write_state
from skpresto._training.stage import StageRun
from skpresto._warn import warn_caller
from skpresto.exceptions import ResumeWarning

#: Stands for the state of a stage among the epochs whose checkpoints are kept.
LATEST = -1


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
    """

    def __init__(self, folder: Path, every: float) -> None:
        self.folder = folder
        self.every = every
        self._n_runs = 0
        self.is_interrupted = False
        self._written_at = time.monotonic()
        self._stored: set[int] = set()

    def resume(self, run: StageRun) -> None:
        """Put the stage that begins into its stored state, if there is one."""
        device = run.trainer.net.device
        states = {e: read_state(path, device) for e, path in self.begin().items()}
        if states:
            put_back(run, states)

    def begin(self) -> dict[int, Path]:
        """Begin a stage; return the files that are stored of it.

        Returns
        -------
        files : dict
            The state, for the key :data:`LATEST`, and the checkpoints of epochs that
            may become the stop point. Empty if nothing is stored.
        """
        self._n_runs += 1
        self._stored = set()
        if not self._path.exists():
            return {}
        self._stored = set(read_state(self._path, "cpu")["contenders"])
        contenders = {epoch: self._contender_path(epoch) for epoch in self._stored}
        return {LATEST: self._path, **contenders}

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
        state = run.state_dict()
        kept = set(state["contenders"])
        # First what the state refers to, last what only the previous one needed.
        for epoch in kept - self._stored:
            write_state(self._contender_path(epoch), run.contender(epoch))
        write_state(self._path, state)
        for epoch in self._stored - kept:
            self._contender_path(epoch).unlink(missing_ok=True)
        self._stored = kept

    @property
    def _path(self) -> Path:
        return self.folder / f"run-{self._n_runs:04d}.pt"

    def _contender_path(self, epoch: int) -> Path:
        return self.folder / f"run-{self._n_runs:04d}-epoch-{epoch + 1:05d}.pt"


def put_back(run: StageRun, states: dict[int, dict[str, Any]]) -> None:
    """Put a stage into the state that was read from the files of the stage."""
    run.load_state_dict(states.pop(LATEST), states)


def latest_stage(folder: Path) -> dict[str, Any] | None:
    """Return the stage that a fit has reached, and the epochs of it that are stored."""
    states = sorted(folder.glob("run-[0-9][0-9][0-9][0-9].pt"))
    if not states:
        return None
    state = read_state(states[-1], "cpu")
    return {"stage": state["stage"], "n_epochs": len(state["records"])}
