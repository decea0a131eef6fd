"""What the Trainer needs of a journal, in which the progress of a fit is stored."""

from typing import Protocol

from skpresto._training.run_state import RunState


class Journal(Protocol):
    """Stores the state of each stage of training, so that a killed fit can go on."""

    def resume(self, run: RunState) -> None:
        """Put the stage that begins into its stored state, if there is one."""
        ...

    def save(self, run: RunState) -> None:
        """Store the state after an epoch, if it is time to."""
        ...

    def interrupted(self) -> None:
        """Keep what is stored, since Ctrl-C ended the fit before its time."""
        ...


class NoJournal:
    """Stores nothing: an ordinary fit."""

    def resume(self, run: RunState) -> None:
        """Begin with the first epoch."""

    def save(self, run: RunState) -> None:
        """Store nothing."""

    def interrupted(self) -> None:
        """Keep nothing."""
