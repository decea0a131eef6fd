"""How far a fit has come, and how long it still takes."""

import time
from typing import Any

import numpy as np

#: Stages of a fit by the first word of their name: cost of an epoch in epochs of one
#: network, and the part of ``max_epochs`` that the stage is expected to take.
_STAGES = {
    "phase": (1.0, 1.5),
    "cross-fit": (4.0, 1.0),
    "final": (2.0, 1.0),
    "fallback": (3.0, 1.5),
}
_QUICK = ("phase",)
_CROSS_FITTED = ("cross-fit", "final")
_N_PROBE_ROWS = 4096


class Plan:
    """The expected course of a fit.

    Parameters
    ----------
    max_epochs : int
        Epochs of a stage.
    is_quick : bool
        Whether one network is trained.
    """

    def __init__(self, max_epochs: int, is_quick: bool) -> None:
        self._stages = list(_QUICK if is_quick else _CROSS_FITTED)
        self._max_epochs = max_epochs
        self._n_epochs: dict[str, int] = {}

    def cost(self) -> float:
        """Return the expected cost, in epochs of one network."""
        return sum(self._cost_of(stage) for stage in self._stages)

    def _cost_of(self, stage: str) -> float:
        per_epoch, part = _STAGES[stage]
        return per_epoch * part * self._max_epochs

    def epoch_done(self, stage_name: str) -> float:
        """Count an epoch, and return the fraction that is done."""
        stage = stage_name.split()[0]
        if stage not in self._stages:  # a fallback takes the place of what was to come
            started = [s for s in self._stages if s in self._n_epochs]
            self._stages = [*started, stage]
        self._n_epochs[stage] = self._n_epochs.get(stage, 0) + 1
        position = self._stages.index(stage)
        behind = sum(self._cost_of(s) for s in self._stages[:position])
        within = min(
            _STAGES[stage][0] * self._n_epochs[stage], 0.99 * self._cost_of(stage)
        )
        return (behind + within) / self.cost()


class FitProgress:
    """Show the progress of a fit in the terminal.

    Parameters
    ----------
    terminal : Terminal
        Where to show it.
    estimator : classifier
        The classifier that is fitted.
    """

    def __init__(self, terminal: Any, estimator: Any) -> None:
        self._plan = _plan_of(estimator)
        self._bar = terminal.progress_bar()
        self._started = time.perf_counter()

    def __enter__(self) -> "FitProgress":
        self._bar.start()
        self._task = self._bar.add_task("Training", total=1.0, left="")
        return self

    def __exit__(self, *failure: object) -> None:
        self._bar.stop()

    def show(self, stage: str) -> None:
        """Show that an epoch of a stage has ended."""
        fraction = self._plan.epoch_done(stage)
        elapsed = time.perf_counter() - self._started
        left = duration(elapsed * (1 - fraction) / fraction)
        self._bar.update(
            self._task, completed=fraction, description=f"Training: {stage}", left=left
        )

    def callback(self) -> Any:
        """Return a skorch callback that shows each epoch."""
        from skpresto._networks.callbacks import Callback

        show = self.show

        class ShowEpoch(Callback):
            def on_epoch_end(self, net: Any, **kwargs: Any) -> None:
                show(net.stage_)

        return ShowEpoch()


def expected_duration(estimator: Any, X: Any, y: Any) -> str:
    """Return how long a fit will take, from an epoch with a part of the rows."""
    from skpresto import DefaultClassifier

    rows = np.linspace(0, len(X) - 1, _N_PROBE_ROWS).astype(int)
    probe = DefaultClassifier(max_epochs=1, random_state=0, n_jobs=estimator.n_jobs)
    probe.fit(X[rows], y[rows])  # the first fit also loads what torch needs
    started = time.perf_counter()
    probe.fit(X[rows], y[rows])
    seconds = (time.perf_counter() - started) * len(X) / len(rows)
    return f"about {duration(seconds * _plan_of(estimator).cost())}"


def duration(seconds: float) -> str:
    """Return a duration in words, rounded.

    Examples
    --------
    >>> [duration(s) for s in (0.4, 42, 100, 4000)]
    ['1 s', '42 s', '1 min 40 s', '1 h 6 min']
    """
    if seconds < 60:
        return f"{max(round(seconds), 1)} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    return f"{minutes // 60} h {minutes % 60} min"


def _plan_of(estimator: Any) -> Plan:
    return Plan(estimator.max_epochs, is_quick=not hasattr(estimator, "cv"))
