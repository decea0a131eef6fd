"""What is shown to the user during training."""

import sys

from tqdm.auto import tqdm

from skpresto.stopping import EpochRecord


class Progress:
    """Show nothing (0), a progress bar (1), or one line per epoch (2)."""

    def __init__(self, verbose: int, n_epochs: int) -> None:
        self._prints_lines = verbose >= 2
        self._bar = (
            tqdm(total=n_epochs, unit="epoch", leave=True) if verbose == 1 else None
        )

    def show(self, record: EpochRecord) -> None:
        """Show the epoch that has just ended."""
        if self._prints_lines:
            sys.stdout.write(_line(record) + "\n")
        if self._bar is not None:
            self._bar.set_description(record.stage)
            self._bar.set_postfix_str(_figures(record))
            self._bar.n = record.epoch
            self._bar.refresh()

    def close(self) -> None:
        """Close the bar, and leave it visible."""
        if self._bar is not None:
            self._bar.close()


def _figures(record: EpochRecord) -> str:
    figures = [f"error={record.train_error:.3f}"]
    for name, value in (
        ("valid", record.valid_error),
        ("held-out", record.holdout_error),
    ):
        if value is not None:
            figures.append(f"{name}={value:.3f}")
    figures.append(f"safe={record.memorized_fraction:.1%}")
    return ", ".join(figures)


def _line(record: EpochRecord) -> str:
    return (
        f"{record.stage}  epoch {record.epoch:3d}  loss={record.train_loss:.4f}, "
        f"{_figures(record)}, {record.seconds:.2f} s"
    )
