"""A fit of several processes that is resumed from the files of the first one."""

from skpresto._parallel.exchange import Exchange
from skpresto._resume.journal import FitJournal, put_back
from skpresto._training.context import Journal
from skpresto._training.stage import StageRun


class SharedJournal:
    """Store the state of each stage in the first process, and resume all from it.

    The state is the same in all processes, so others need no files, and processes that
    have come to different epochs when they are killed go on from the same one.

    Parameters
    ----------
    journal : Journal or None
        That of this process; only the first one has any.
    exchange : Exchange
        The processes.
    """

    def __init__(self, journal: Journal | None, exchange: Exchange) -> None:
        self._journal = journal
        self._exchange = exchange

    def resume(self, run: StageRun) -> None:
        """Put the stage that begins into its stored state, if there is one."""
        contents = {}
        if isinstance(self._journal, FitJournal):
            contents = self._journal.begin()
        put_back(run, self._exchange.gather_objects(contents)[0])

    def save(self, run: StageRun) -> None:
        """Store the state after an epoch, in the first process."""
        if self._journal is not None:
            self._journal.save(run)

    def interrupted(self) -> None:
        """Keep what is stored, since Ctrl-C ended the fit before its time."""
        if self._journal is not None:
            self._journal.interrupted()
