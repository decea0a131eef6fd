"""What follows a fit: the display, and callbacks of scikit-learn."""

import sys
from typing import Any

from tqdm.auto import tqdm

from skpresto._training.stage import Stage
from skpresto.stopping import EpochRecord

#: Name of the fitted attributes from which an estimator for callbacks is made.
_STATE = "reconstruction_attributes"


class Listener:
    """Follows the stages and epochs of a fit."""

    def begin_stage(self, stage: Stage) -> None:
        """Note that a stage begins."""

    def begin_epoch(self) -> None:
        """Note that an epoch begins."""

    def end_epoch(self, record: EpochRecord) -> bool:
        """Note that an epoch has ended; return whether the stage is to end."""
        return False

    def end_stage(self) -> None:
        """Note that a stage has ended."""


class Progress(Listener):
    """Show a progress bar (1), or one line per epoch (2)."""

    def __init__(self, verbose: int, n_epochs: int) -> None:
        self._prints_lines = verbose >= 2
        self._bar = (
            tqdm(total=n_epochs, unit="epoch", leave=True) if verbose == 1 else None
        )

    def __enter__(self) -> "Progress":
        return self

    def __exit__(self, *failure: object) -> None:
        """Close the bar, and leave it visible."""
        if self._bar is not None:
            self._bar.close()

    def end_epoch(self, record: EpochRecord) -> bool:
        """Show the epoch that has just ended."""
        if self._prints_lines:
            sys.stdout.write(_line(record) + "\n")
        if self._bar is not None:
            self._bar.set_description(record.stage)
            self._bar.set_postfix_str(_figures(record))
            self._bar.n = record.epoch
            self._bar.refresh()
        return False


class FitTasks(Listener):
    """A fit, its stages and their epochs as tasks, which scikit-learn's callbacks see.

    Parameters
    ----------
    estimator : estimator
        What is fitted; it has callbacks of scikit-learn.
    **details : dict
        What they can ask for: ``X``, ``y`` and ``metadata``.
    """

    def __init__(self, estimator: Any, **details: Any) -> None:
        self.details = {"estimator": estimator, **details}
        self._fit = estimator._init_callback_context(max_subtasks=None)
        self._fit.call_on_fit_task_begin(**self.details)
        self._stage: Any = None
        self._epoch: Any = None

    def tell_state(self, state: dict[str, Any]) -> None:
        """Tell from which fitted attributes an estimator for callbacks is made."""
        self.details[_STATE] = lambda: state

    def begin_stage(self, stage: Stage) -> None:
        """Begin a task for a stage."""
        self._stage = self._begun(self._fit, stage.name, stage.n_epochs)

    def begin_epoch(self) -> None:
        """Begin a task for an epoch."""
        self._epoch = self._begun(self._stage, "epoch", 0)

    def end_epoch(self, record: EpochRecord) -> bool:
        """End the task of an epoch; return whether a callback ends the stage."""
        return self._epoch.call_on_fit_task_end(**self.details)

    def end_stage(self) -> None:
        """End the task of a stage."""
        self._stage.call_on_fit_task_end(**self.details)

    def end_fit(self) -> None:
        """End the task of the fit."""
        self._fit.call_on_fit_task_end(**self.details)

    def _begun(self, parent: Any, name: str, max_subtasks: int) -> Any:
        task = parent.subcontext(task_name=name, max_subtasks=max_subtasks)
        begin = {k: v for k, v in self.details.items() if k != _STATE}
        task.call_on_fit_task_begin(**begin)
        return task


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
