"""Ways to fit: once, again, killed and resumed, interrupted, with trajectories.

Each takes a classifier and the arguments of ``fit``, and yields a suffix of the name,
the fitted classifier, and further digests.
"""

import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from copy import deepcopy
from functools import partial
from typing import Any

import numpy as np
from describe import digest, summary
from skorch.callbacks import Callback

import skpresto

Fitted = Iterator[tuple[str, Any, dict[str, Any]]]


def recorded_trajectories(fit: Callable[[], Any]) -> np.ndarray | None:
    """Fit; return what the audit records. The only name here that is internal."""
    from skpresto._label_quality.trajectories import recorded_trajectories

    with recorded_trajectories() as recorded:
        fit()
    return recorded.probabilities()


class Watch(Callback):
    """Note what callbacks are given, and when."""

    def __init__(self) -> None:
        self.events: list[Any] = []

    def note(self, name: str, net: Any, **details: Any) -> None:
        """Note a call."""
        self.events.append([name, net.stage_, len(net.history), *details.values()])

    def on_epoch_begin(self, net: Any, **kwargs: Any) -> None:
        """Note the begin of an epoch."""
        self.note("epoch begin", net)

    def on_batch_end(
        self, net: Any, batch: Any = None, training: bool = True, **kwargs: Any
    ) -> None:
        """Note a batch, its outputs and its loss."""
        outputs = kwargs["y_pred"].detach().float().cpu()
        loss = kwargs["loss"].item() if kwargs.get("loss") is not None else None
        found = digest(batch[1].cpu(), outputs)
        self.note("batch end", net, training=training, found=found, loss=loss)

    def on_grad_computed(
        self, net: Any, named_parameters: Any = (), **kwargs: Any
    ) -> None:
        """Note the gradients."""
        gradients = [p.grad for _, p in named_parameters if p.grad is not None]
        self.note("gradients", net, found=digest(*gradients))

    def on_epoch_end(self, net: Any, **kwargs: Any) -> None:
        """Note the end of an epoch."""
        self.note("epoch end", net)


class End(Callback):
    """End the fit at the begin of some epochs, or in their first batch."""

    def __init__(self, error: type, place: str, epochs: tuple[int, ...]) -> None:
        self.error, self.place, self.epochs = error, place, set(epochs)

    def on_epoch_begin(self, net: Any, **kwargs: Any) -> None:
        """End the fit, if that is the place."""
        if self.place == "epoch":
            self._end(net)

    def _end(self, net: Any) -> None:
        if len(net.history) in self.epochs:
            self.epochs.remove(len(net.history))
            raise self.error


class EndInBatch(End):
    """The same; a class with this method is called after every batch."""

    def on_batch_end(self, net: Any, **kwargs: Any) -> None:
        """End the fit."""
        self._end(net)


def fit_once(clf: Any, arguments: dict[str, Any]) -> Fitted:
    for callback in clf.callbacks or ():
        if isinstance(callback, Watch):
            callback.events = []
    clf.fit(**arguments)
    watches = [c for c in clf.callbacks or () if isinstance(c, Watch)]
    yield "", clf, {f"events of {type(w).__name__}": digest(w.events) for w in watches}


def fit_again(clf: Any, arguments: dict[str, Any]) -> Fitted:
    half = {name: value[::2] for name, value in arguments.items()}
    yield "", clf.fit(**half).fit(**arguments), {}


def killed(place: str) -> Callable[..., Fitted]:
    """Return a way to fit in which the process ends twice, and runs again."""
    return partial(_killed, place)


def _killed(place: str, clf: Any, arguments: dict[str, Any]) -> Fitted:
    kind = EndInBatch if place == "batch" else End
    whole = deepcopy(clf).set_params(callbacks=[kind(SystemExit, place, ())])
    expected = summary(whole.fit(**arguments), arguments["X"])
    end = kind(SystemExit, place, (5, 9, 14))
    clf.set_params(callbacks=[end])
    n_kills = 0
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(4):
            n_left = len(end.epochs)
            with suppress(SystemExit), skpresto.resumable(f"{folder}/fit", every=0):
                clf.fit(**arguments)
            if len(end.epochs) == n_left:
                break
            n_kills += 1
    is_same = summary(clf, arguments["X"]) == expected
    yield "", clf, {"number of kills": n_kills, "same as without": is_same}
    yield ", whole", whole, {}


def interrupted(n_epochs: int) -> Callable[..., Fitted]:
    """Return a way to fit in which Ctrl-C is pressed after so many epochs."""
    return partial(_interrupted, n_epochs)


def _interrupted(n_epochs: int, clf: Any, arguments: dict[str, Any]) -> Fitted:
    clf.set_params(callbacks=[EndInBatch(KeyboardInterrupt, "batch", (n_epochs + 1,))])
    with skpresto.keep_interrupted():
        clf.fit(**arguments)
    yield "", clf, {"is_interrupted_": clf.is_interrupted_}


def with_trajectories(clf: Any, arguments: dict[str, Any]) -> Fitted:
    recorded = recorded_trajectories(lambda: clf.fit(**arguments))
    found = None if recorded is None else digest(recorded)
    yield "", clf, {"trajectories": found}
