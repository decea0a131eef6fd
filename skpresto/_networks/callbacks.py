"""skorch's callbacks and history: what is called when, and what is recorded."""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from skorch.callbacks import Callback, Checkpoint, EarlyStopping, LRScheduler
from skorch.dataset import Dataset
from skorch.exceptions import DeviceWarning
from skorch.utils import TeeGenerator
from torch import Tensor

from skpresto._data.training_data import PredictionRows, TrainingRows
from skpresto._networks.forward import classes_of
from skpresto._networks.stack import mean_of_logits

__all__ = [
    "Callback",
    "CallbackMixin",
    "Checkpoint",
    "DeviceWarning",
    "EarlyStopping",
    "LRScheduler",
]


class CallbackMixin:
    """Call the callbacks of a skorch net as skorch's own training loop does.

    The history has one row per epoch of all stages. Epochs that are undone stay in it.
    """

    #: Name of the present stage. It is not in the history, since callbacks such as
    #: TensorBoard expect numbers there.
    stage_: str
    callbacks_: list[tuple[str, Callback]]
    history: Any
    notify: Any
    get_loss: Any
    get_iterator: Any
    evaluation_step: Any
    get_all_learnable_params: Any

    @property
    def lr_schedulers(self) -> list[LRScheduler]:
        """Learning-rate schedulers among the callbacks, the built-in one included."""
        return [cb for _, cb in self.callbacks_ if isinstance(cb, LRScheduler)]

    @property
    def has_callbacks(self) -> bool:
        """Whether there are callbacks other than schedules of the learning rate."""
        return len(self.lr_schedulers) < len(self.callbacks_)

    def is_heard(self, *hooks: str) -> bool:
        """Return whether a callback does anything when one of some hooks is called."""
        for _, callback in self.callbacks_:
            if getattr(callback, "step_every", None) == "epoch":
                continue  # a schedule, whose hook for batches does nothing then
            for hook in hooks:
                if getattr(type(callback), hook) is not getattr(Callback, hook):
                    return True
        return False

    def notify_batch_begin(self, batch: Any) -> None:
        """Call the callbacks before a training batch."""
        self.notify("on_batch_begin", batch=batch, training=True)

    def notify_gradients(self, batch: Any) -> None:
        """Call the callbacks after a backward pass."""
        self.notify(
            "on_grad_computed",
            named_parameters=TeeGenerator(self.get_all_learnable_params()),
            batch=batch,
            training=True,
        )

    def notify_batch_end(self, batch: Any, outputs: Tensor, loss: Any) -> None:
        """Record the loss of a training batch, and call the callbacks."""
        self.history.record_batch("train_loss", None if loss is None else loss.item())
        self.history.record_batch("train_batch_size", len(batch[1]))
        together = outputs if outputs.dim() < 3 else mean_of_logits(outputs)
        self.notify(
            "on_batch_end", training=True, batch=batch, loss=loss, y_pred=together
        )

    @contextmanager
    def epoch(
        self, rows: TrainingRows, valid_rows: PredictionRows | None
    ) -> Iterator[PredictionRows | None]:
        """Call the callbacks at the begin and the end of an epoch."""
        valid: Any = valid_rows
        if valid_rows and valid_rows.X.is_in_memory:
            # A dataset of skorch's, from which callbacks can take X and y.
            assert valid_rows.labels is not None
            valid = Dataset(valid_rows.X.source, valid_rows.labels.numpy())
        datasets = {"dataset_train": rows, "dataset_valid": valid}
        self.notify("on_epoch_begin", **datasets)
        # The batches of the epoch before would take more memory than the predictions.
        # Callbacks may need them.
        if len(self.history) > 1 and not self.has_callbacks:
            self.history[-2]["batches"].clear()
        yield valid_rows
        self.notify("on_epoch_end", **datasets)

    def record_epoch(
        self, losses: list[float | None], errors: dict[str, float | None]
    ) -> float:
        """Write an epoch into skorch's history, before its callbacks are called.

        Returns
        -------
        train_loss : float
            Mean loss of the batches, nan if nothing was learned from any.
        """
        batches = self.history[-1]["batches"]
        while len(batches) < len(losses):
            batches.append({})
        for record, loss in zip(batches, losses, strict=False):
            record["train_loss"] = loss
        learned = [loss for loss in losses if loss is not None]
        mean = float(np.mean(learned)) if learned else np.nan
        self._record_loss("train_loss", mean)
        if self.has_callbacks and "valid_loss" not in self.history[-1]:
            # What skorch's Checkpoint follows by default; checked_callbacks warns.
            is_best = self.history[-1, "train_loss_best"]
            self.history.record("valid_loss_best", is_best)
        self.history.record("train_batch_count", len(losses))
        for name, error in errors.items():
            if error is not None:
                self.history.record(name, error)
        return mean

    def _record_loss(self, name: str, loss: float) -> None:
        """Record a loss of the epoch, and whether it is the lowest, as skorch does."""
        rows: list[dict[str, Any]] = self.history[:-1]
        lowest = min((row.get(name, np.inf) for row in rows), default=np.inf)
        self.history.record(name, loss)
        self.history.record(f"{name}_best", bool(loss < lowest))

    def validate_with_callbacks(self, rows: PredictionRows) -> Tensor:
        """Predict validation rows, batch by batch, and call the callbacks."""
        predicted, n_batches, total = [], 0, 0.0
        for batch in self.get_iterator(rows):
            self.notify("on_batch_begin", batch=batch, training=False)
            outputs = self.evaluation_step(batch)
            losses = self.get_loss(outputs, batch[1])
            loss = losses.mean()
            self.history.record_batch("valid_loss", loss.item())
            self.history.record_batch("valid_batch_size", len(outputs))
            result = {"batch": batch, "loss": loss, "y_pred": outputs}
            self.notify("on_batch_end", training=False, **result)
            predicted.append(classes_of(outputs))
            total += losses.sum().item()
            n_batches += 1
        self._record_loss("valid_loss", total / len(rows))
        self.history.record("valid_batch_count", n_batches)
        return torch.cat(predicted)


class ScheduleOfTheRun(LRScheduler):
    """Lower the learning rate to a fifth after one half and three quarters of a run.

    This is the schedule of the paper. Networks that are trained for fewer epochs than
    ``max_epochs``, such as the fold networks of CrossPrestopping, have a schedule of
    that length.
    """

    def _get_scheduler(self, net: Any, policy: Any, **params: Any) -> Any:
        n_epochs = net.blueprint.n_epochs
        params["milestones"] = [math.ceil(n_epochs / 2), math.ceil(n_epochs * 3 / 4)]
        return super()._get_scheduler(net, policy, **params)
