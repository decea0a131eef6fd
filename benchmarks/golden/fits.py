"""Ways to fit: once, again, killed and resumed, interrupted, with trajectories.

Each takes a classifier and the arguments of ``fit``, and returns the fitted classifier
and what else is to be recorded.
"""

import atexit
import shutil
import tempfile
from contextlib import suppress
from copy import deepcopy
from pathlib import Path
from typing import Any

from describe import digest, summary
from skorch.callbacks import Callback

import skpresto

Fitted = tuple[Any, dict[str, Any]]


def with_trajectories(clf: Any, arguments: dict[str, Any]) -> Fitted:
    """Record what the audit shows of each sample. The only internal name is here."""
    from skpresto._training.context import recorded_trajectories

    with recorded_trajectories() as recorded:
        clf.fit(**arguments)
    return clf, {"trajectories": digest(recorded.probabilities())}


def once(clf: Any, arguments: dict[str, Any]) -> Fitted:
    return clf.fit(**arguments), {}


def again(clf: Any, arguments: dict[str, Any]) -> Fitted:
    half = {name: value[::2] for name, value in arguments.items()}
    return clf.fit(**half).fit(**arguments), {}


class Watch(Callback):
    """Note what callbacks are given, and when."""

    def __init__(self) -> None:
        self.events: list[Any] = []

    def on_epoch_begin(self, net: Any, **kwargs: Any) -> None:
        """Note the stage and the epoch."""
        self.events.append([net.stage_, len(net.history)])

    def on_batch_end(self, net: Any, batch: Any = None, **kwargs: Any) -> None:
        """Note labels, outputs and the loss of a batch."""
        seen = batch[1], kwargs["y_pred"], kwargs["loss"]
        found = digest(*(v.detach() for v in seen if v is not None))
        self.events.append([kwargs["training"], found])

    def on_grad_computed(
        self, net: Any, named_parameters: Any = (), **kwargs: Any
    ) -> None:
        """Note gradients."""
        self.events.append(digest(*(p.grad for _, p in named_parameters)))


def watched(clf: Any, arguments: dict[str, Any]) -> Fitted:
    watch = Watch()
    clf.set_params(callbacks=[*clf.callbacks, watch]).fit(**arguments)
    return clf, {"events": digest(watch.events), "number": len(watch.events)}


class EndBeforeEpoch(Callback):
    """End the fit at the begin of some epochs, once in each.

    In which it has is noted in files: a fit with a changed callback is another fit.
    """

    def __init__(self, error: type[BaseException], *epochs: int) -> None:
        self.error, self.epochs = error, epochs
        self.folder = tempfile.mkdtemp()
        atexit.register(shutil.rmtree, self.folder, ignore_errors=True)

    def on_epoch_begin(self, net: Any, **kwargs: Any) -> None:
        """Raise the error."""
        mark = Path(self.folder, str(len(net.history)))
        if len(net.history) in self.epochs and not mark.exists():
            mark.touch()
            raise self.error


class EndInBatch(EndBeforeEpoch):
    """End the fit in the first batch of some epochs."""

    def on_epoch_begin(self, net: Any, **kwargs: Any) -> None:
        """Do nothing yet."""

    def on_batch_end(self, net: Any, **kwargs: Any) -> None:
        """Raise the error."""
        super().on_epoch_begin(net)


def killed(clf: Any, arguments: dict[str, Any], kind: Any = EndBeforeEpoch) -> Fitted:
    """End the process in several epochs, and run again until the fit is complete."""
    whole = deepcopy(clf).set_params(callbacks=[kind(SystemExit)]).fit(**arguments)
    clf.set_params(callbacks=[kind(SystemExit, 5, 9, 14)])
    n_runs, is_complete = 0, False
    with tempfile.TemporaryDirectory() as folder:
        while not is_complete:
            n_runs += 1
            with suppress(SystemExit), skpresto.resumable(f"{folder}/fit", every=0):
                clf.fit(**arguments)
                is_complete = True
    uninterrupted = summary(whole, arguments["X"])
    is_same = summary(clf, arguments["X"]) == uninterrupted
    further = {f"uninterrupted {name}": v for name, v in uninterrupted.items()}
    return clf, {**further, "runs": n_runs, "same as uninterrupted": is_same}


def killed_in_batch(clf: Any, arguments: dict[str, Any]) -> Fitted:
    return killed(clf, arguments, EndInBatch)


def interrupted(clf: Any, arguments: dict[str, Any]) -> Fitted:
    """Press Ctrl-C after five epochs."""
    clf.set_params(callbacks=[EndInBatch(KeyboardInterrupt, 6)])
    with skpresto.keep_interrupted():
        return clf.fit(**arguments), {}
