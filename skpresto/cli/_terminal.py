"""What the command line shows: sentences, progress, and a summary."""

from pathlib import Path
from typing import Any

from skpresto.audit._page import About
from skpresto.audit._sentences import about_suspects, rests_on

_MOST_CLASSES = 12
_N_LEFT_OUT = 5


def plain(text: Any) -> str:
    r"""Return a text of the user without characters that control the terminal.

    Examples
    --------
    >>> plain("a\x1b[31mb\n")
    'a�[31mb�'
    """
    return "".join(c if c.isprintable() else "\ufffd" for c in str(text))


class Terminal:
    """Progress goes to the standard error output, the summary to the standard one."""

    def __init__(self) -> None:
        from rich.console import Console

        self._out = Console(highlight=False, markup=False, emoji=False)
        self._err = Console(stderr=True, highlight=False, markup=False, emoji=False)

    def say(self, sentence: str) -> None:
        """Show a sentence while work goes on."""
        self._err.print(
            f"{plain(sentence).rstrip('.')} ...", style="dim", soft_wrap=True
        )

    def progress_bar(self) -> Any:
        """Return a progress bar that is removed at its end."""
        from rich.progress import Progress, TextColumn, TimeRemainingColumn

        _, *bar, _ = Progress.get_default_columns()
        return Progress(
            TextColumn("{task.description:<28}"),
            *bar,
            TimeRemainingColumn(compact=True),
            TextColumn("left"),
            console=self._err,
            transient=True,
            speed_estimate_period=3600,  # an epoch may take minutes
        )

    def summarize(self, report: Any, about: About, written: list[Path]) -> None:
        """Show what was found, and where it was written."""
        summary = report.summary()
        show = self._out.print
        show()
        show(plain(summary.headline()), style="bold", soft_wrap=True)
        show(about_suspects(summary), soft_wrap=True)
        show(rests_on(summary), soft_wrap=True)
        show()
        show(self._class_table(summary))
        for note in about.notes:
            show(f"Note: {plain(note)}", soft_wrap=True)
        self._list_left_out(about)
        show()
        for path in written:
            show(f"Written: {path.resolve()}", soft_wrap=True)

    def _class_table(self, summary: Any) -> Any:
        from rich import box
        from rich.table import Table

        worst = summary.worst_first()
        head, lines = summary.table(worst[:_MOST_CLASSES])
        table = Table(*head, box=box.SIMPLE_HEAD, pad_edge=False)
        for column in table.columns[1:3]:
            column.justify = "right"
        for line in lines:
            table.add_row(*map(plain, line))
        if len(worst) > _MOST_CLASSES:
            table.add_row(f"{len(worst) - _MOST_CLASSES} more classes", "", "", "", "")
        return table

    def _list_left_out(self, about: About) -> None:
        if not about.left_out:
            return
        shown = [f"{plain(n)} ({plain(r)})" for n, r in about.left_out[:_N_LEFT_OUT]]
        more = len(about.left_out) - len(shown)
        end = f" and {more:,} more, listed on the page" if more else ""
        self._out.print(
            f"Note: {len(about.left_out):,} not audited: {', '.join(shown)}{end}.",
            soft_wrap=True,
        )
