"""How far a fit has come, and how long it still takes."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

#: Epochs of one network that a fit takes, as a multiple of ``max_epochs``.
_QUICK, _CROSS_FITTED, _FALLBACK = 1.5, 7.0, 4.5


@contextmanager
def fit_progress(terminal: Any, estimator: Any) -> Iterator[None]:
    """Show the progress of ``estimator.fit`` in the terminal.

    Parameters
    ----------
    terminal : Terminal
        Where to show it.
    estimator : classifier
        The classifier that is fitted. It gets a callback if it trains in epochs.
    """
    if not hasattr(estimator, "max_epochs"):
        yield
        return
    from skpresto._networks.callbacks import Callback

    n_epochs = estimator.max_epochs
    with terminal.progress_bar() as bar:
        expected = _CROSS_FITTED if hasattr(estimator, "cv") else _QUICK
        task = bar.add_task("Training", total=expected * n_epochs)

        class ShowEpoch(Callback):
            is_fallback = False

            def on_epoch_end(self, net: Any, **kwargs: Any) -> None:
                if net.stage_.startswith("fallback") and not self.is_fallback:
                    self.is_fallback = True  # it takes the place of what was to come
                    done = bar.tasks[task].completed
                    bar.update(task, total=done + _FALLBACK * n_epochs)
                shown = f"Training: {net.stage_}"
                bar.update(task, advance=len(net.networks), description=shown)

        own = estimator.callbacks or []
        estimator.set_params(callbacks=[*own, ("progress", ShowEpoch())])
        yield
