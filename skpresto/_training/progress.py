"""What a user sees while a network trains."""

import sys

from tqdm.auto import tqdm

from skpresto.stopping import EpochRecord


class Progress:
    """Say nothing (0), show a progress bar (1), or print a line an epoch (2)."""

    def __init__(self, verbose: int, n_epochs: int) -> None:
        self._prints_lines = verbose >= 2
        self._bar = (
            tqdm(total=n_epochs, unit="epoch", leave=True) if verbose == 1 else None
        )

    def show(self, record: EpochRecord) -> None:
        """Report the epoch that just ended."""
        if self._prints_lines:
            sys.stdout.write(_line(record) + "\n")
        if self._bar is not None:
            self._bar.set_description(f"phase {record.phase}")
            self._bar.set_postfix_str(_figures(record))
            self._bar.n = record.epoch
            self._bar.refresh()

    def close(self) -> None:
        """Leave the bar as it is."""
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
        f"phase {record.phase}  epoch {record.epoch:3d}  loss={record.train_loss:.4f}, "
        f"{_figures(record)}, {record.seconds:.2f} s"
    )
