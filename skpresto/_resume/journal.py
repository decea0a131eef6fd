"""The journal of a fit: one file per stage of training, with its latest state."""

import time
from pathlib import Path
from typing import Any

from skpresto._engine.run_state import RunState
from skpresto._resume.files import read_state, write_state
from skpresto._warn import warn_caller
from skpresto.exceptions import ResumeWarning


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

    def resume(self, run: RunState) -> None:
        """Put the stage that begins into its stored state, if there is one."""
        self._n_runs += 1
        self._stored = set()
        if not self._path.exists():
            return
        device = run.trainer.net.device
        state = read_state(self._path, device)
        epochs = state["contenders"]
        files = {epoch: self._contender_path(epoch) for epoch in epochs}
        run.restore(state, {e: read_state(f, device) for e, f in files.items()})
        self._stored = set(epochs)

    def save(self, run: RunState) -> None:
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

    def _write(self, run: RunState) -> None:
        state = run.collect()
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


def latest_stage(folder: Path) -> dict[str, Any] | None:
    """Return the stage that a fit has reached, and the epochs of it that are stored."""
    states = sorted(folder.glob("run-[0-9][0-9][0-9][0-9].pt"))
    if not states:
        return None
    state = read_state(states[-1], "cpu")
    return {"stage": state["stage"], "n_epochs": len(state["records"])}
