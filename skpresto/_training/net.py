"""The network: skorch with a policy. The only file that imports skorch."""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import torch
from skorch import NeuralNet
from skorch.callbacks import Callback, EarlyStopping, LRScheduler
from skorch.utils import TeeGenerator, to_device
from torch import Tensor, nn
from torch.utils.data import DataLoader

from skpresto._training.batch import Batch
from skpresto._training.batching import (
    BatchOrder,
    PredictionRows,
    TensorBatches,
    TensorBlocks,
    TrainingRows,
    is_in_memory,
    rows_at_once,
)
from skpresto._training.label_history import LabelHistory
from skpresto._training.losses import sample_losses
from skpresto._training.network_stack import (
    NetworkStack,
    mean_of_logits,
    networks_of,
    predicted_classes,
)
from skpresto._training.policy import SelectionPolicy
from skpresto._training.steps import (
    Step,
    StepIfSelected,
    StepUnlessEmpty,
    begin_momentum,
)
from skpresto._training.tally import EpochSums, Tally

__all__ = ["Callback", "EarlyStopping", "LRScheduler", "NetworkStack", "PolicyNet"]


class PolicyNet(NeuralNet):
    """A skorch net that asks its policy what each mini-batch learns from.

    What the Trainer hangs on the net ends in an underscore, so that skorch does not
    take it for a parameter, and is taken off again after training.
    """

    policy_: SelectionPolicy
    label_history_: LabelHistory
    #: Number of epochs finished.
    n_epochs_: int
    #: Number of samples selected in the last epoch, and of batches without any.
    n_selected_: int
    n_skipped_: int
    #: Two training samples, with which a new module is tried, and the class count.
    trial_: Any
    n_classes_: int
    #: What makes a number of networks, how many are trained side by side, and whether
    #: all start from the weights of an instance.
    make_: Callable[..., nn.Module]
    n_networks_: int
    starts_alike_: bool
    #: Measures the epoch before the callbacks hear of its end.
    evaluate_: Callable[[], dict[str, float]]

    def get_default_callbacks(self) -> list:
        """Return none: the Trainer times, measures and reports."""
        return []

    @property
    def lr_schedulers(self) -> list[LRScheduler]:
        """Learning-rate schedules among the callbacks, the built-in one included."""
        return [cb for _, cb in self.callbacks_ if isinstance(cb, LRScheduler)]

    def initialize_module(self) -> "PolicyNet":
        """Build the module, and see that what it returns fits the classes."""
        params = self.get_params_for("module")
        self.module_ = self.make_(self.n_networks_, **params)
        module = to_device(self.module_, self.device)
        module.eval()
        with torch.no_grad():  # also gives lazy modules their parameters
            output = module(to_device(self.trial_, self.device))
        expected = (len(self.trial_), self.n_classes_)
        got = tuple(getattr(output, "shape", ()))
        if got != expected:
            raise ValueError(
                f"module must return one logit for each of the {self.n_classes_} "
                f"classes: for {expected[0]} samples a tensor of shape {expected}, got "
                f"{got or type(output).__name__}. Let its constructor take n_classes, "
                "which is then passed to it."
            )
        return self

    def is_finite(self) -> bool:
        """Return whether the parameters are finite, and the outputs for two samples."""
        self._set_training(False)
        with torch.no_grad():
            outputs = self.infer(to_device(self.trial_, self.device))
        parts = [outputs, *self.module_.parameters()]
        return all(bool(torch.isfinite(part).all()) for part in parts)

    def predict(self, X: Any) -> np.ndarray:
        """Return class numbers, for skorch's scoring callbacks."""
        return self.predict_proba(X).argmax(axis=1)

    def initialize_optimizer(
        self, triggered_directly: bool | None = None
    ) -> "PolicyNet":
        """Build the optimizer."""
        super().initialize_optimizer(triggered_directly)
        begin_momentum(self.optimizer_)
        return self

    def get_iterator(self, dataset: Any, training: bool = False) -> Any:
        """Return batches of whole tensors where the data are in memory."""
        prefix = "iterator_train" if training else "iterator_valid"
        kwargs = self.get_params_for(prefix)
        if isinstance(dataset, TrainingRows):
            return self._training_batches(dataset, kwargs)
        if isinstance(dataset, PredictionRows):
            return self._prediction_blocks(dataset, kwargs)
        return super().get_iterator(dataset, training=training)

    def _training_batches(self, dataset: TrainingRows, kwargs: dict[str, Any]) -> Any:
        if {"sampler", "batch_sampler"} & set(kwargs):
            if dataset.rows is not None:
                raise ValueError(
                    "A sampler of your own draws from all rows, so it cannot be used "
                    "with a stop rule that holds some of them out. Choose another "
                    "rule, such as LabelWaveStop(), or leave the sampler out."
                )
            return super().get_iterator(dataset, training=True)
        order = BatchOrder(
            len(dataset),
            kwargs.pop("batch_size", self.batch_size),
            kwargs.pop("shuffle", True),
            kwargs.pop("drop_last", False),
        )
        if is_in_memory(dataset.X) and not kwargs:
            announce = self.label_history_.expect
            return TensorBatches(dataset, order, self.device, announce)
        kwargs.setdefault("generator", self._generator())
        return DataLoader(dataset, batch_sampler=order, **kwargs)  # type: ignore[arg-type]

    def _prediction_blocks(self, dataset: PredictionRows, kwargs: dict) -> Any:
        size = kwargs.pop("batch_size", rows_at_once(dataset.X, self.batch_size))
        if is_in_memory(dataset.X) and not kwargs:
            return TensorBlocks(dataset, size)
        kwargs.setdefault("generator", self._generator())
        return DataLoader(dataset, batch_size=size, **kwargs)

    def _generator(self) -> torch.Generator:
        """Return what seeds worker processes; torch's own stream is left alone."""
        seed = (torch.initial_seed() + self.n_epochs_) % (1 << 63)
        return torch.Generator().manual_seed(seed)

    def run_single_epoch(
        self,
        iterator: Any,
        training: bool,
        prefix: str,
        step_fn: Callable,
        **fit_params: Any,
    ) -> None:
        """Train for one epoch; the losses leave the device once, at its end."""
        if iterator is None:
            return
        self._set_training(True)
        self._forget_batches()
        step, tally = self._make_step(), Tally()
        is_heard = any(map(_hears_batches, self._callbacks()))
        for batch in self._on_device(iterator):
            if is_heard:
                self.notify("on_batch_begin", batch=batch[:2], training=True)
            outputs = self._learn(batch, step, tally)
            if is_heard:
                self._notify_of_batch_end(batch[:2], outputs, tally.last_loss())
        self.label_history_.settle()
        self._record_sums(tally.sums())
        for name, value in self.evaluate_().items():
            self.history.record(name, value)

    def _learn(self, batch: tuple, step: Step, tally: Tally) -> Tensor:
        """Learn from what the policy selects of the batch; return the outputs."""
        features, labels, index = batch
        step.begin()
        outputs = self._infer(features)
        losses = sample_losses(self.criterion_, outputs, labels)
        logits = outputs.detach().reshape(-1, *outputs.shape[-2:])
        seen = losses.detach().view(logits.shape[:2])
        self.label_history_.record(index, predicted_classes(logits))
        selection = self.policy_.select(
            Batch(index, labels, logits, seen, self.n_epochs_)
        )
        if selection.labels is not None:
            losses = sample_losses(self.criterion_, outputs, selection.labels)
            seen = losses.detach().view(logits.shape[:2])
        step.learn(losses, selection.weights, batch[:2])
        tally.add(seen, selection.weights)
        return outputs.detach()

    def _make_step(self) -> Step:
        """Return the way in which this epoch steps."""
        hears_gradients = any(map(_hears_gradients, self._callbacks()))
        on_gradients = self._notify_of_gradients if hears_gradients else None
        parts = self.module_, self.optimizer_, on_gradients
        if not self.policy_.may_select_nothing:
            return Step(*parts)
        # Callbacks are to hear of the steps that are made, and of no others.
        is_heard = hears_gradients or any(map(_hears_batches, self._callbacks()))
        if self._waiting_costs() and not is_heard and StepUnlessEmpty.serves(*parts):
            return StepUnlessEmpty(*parts)
        return StepIfSelected(*parts)

    def _waiting_costs(self) -> bool:
        """Return whether to look at a number means to wait for the device."""
        return torch.device(self.device).type != "cpu"

    def _notify_of_gradients(self, batch: Any) -> None:
        self.notify(
            "on_grad_computed",
            named_parameters=TeeGenerator(self.get_all_learnable_params()),
            batch=batch,
            training=True,
        )

    def _notify_of_batch_end(self, batch: Any, outputs: Tensor, loss: Any) -> None:
        self.history.record_batch("train_loss", None if loss is None else loss.item())
        together = outputs if outputs.dim() < 3 else mean_of_logits(outputs)
        heard = {"batch": batch, "loss": loss, "y_pred": together}
        self.notify("on_batch_end", training=True, **heard)

    def _on_device(self, iterator: Any) -> Iterable:
        """Return the batches of an iterator, on the device of the net."""
        if isinstance(iterator, TensorBatches):
            return iterator
        return (to_device(tuple(batch), self.device) for batch in iterator)

    def _callbacks(self) -> list[Callback]:
        return [callback for _, callback in self.callbacks_]

    def _forget_batches(self) -> None:
        """Drop the batches of the epoch before from skorch's history.

        Kept, they would outgrow the label history. Callbacks may want them.
        """
        if len(self.history) > 1 and len(self.lr_schedulers) == len(self.callbacks_):
            self.history[-2]["batches"].clear()

    def _record_sums(self, sums: EpochSums) -> None:
        """Write the losses of an epoch into skorch's history."""
        batches = self.history[-1]["batches"]
        batches.extend({} for _ in range(len(sums.losses) - len(batches)))
        for record, loss in zip(batches, sums.losses, strict=True):
            record["train_loss"] = loss
        learnt = [loss for loss in sums.losses if loss is not None]
        self.history.record("train_loss", float(np.mean(learnt)) if learnt else np.nan)
        self.history.record("train_batch_count", len(sums.losses))
        self.n_selected_, self.n_skipped_ = sums.n_selected, sums.n_skipped

    @property
    def networks(self) -> list[nn.Module]:
        """The networks trained side by side."""
        return networks_of(self.module_)

    def get_all_learnable_params(self) -> Iterable[tuple[str, Tensor]]:
        """Yield what is trained, under the names it has in a single network."""
        for part in (*self.networks, self.criterion_):
            yield from part.named_parameters()

    @torch.no_grad()
    def predicted_classes(self, rows: PredictionRows) -> Tensor:
        """Return the class predicted for each row, in evaluation mode."""
        self._set_training(False)
        blocks = (
            to_device(features, self.device) for features, _ in self.get_iterator(rows)
        )
        return torch.cat([self._infer(block).argmax(dim=-1) for block in blocks])

    def _infer(self, features: Any) -> Tensor:
        """Return the outputs of the module for features on its device."""
        # skorch's infer() is for inputs of several parts, and slow for one.
        infer = self.module_ if isinstance(features, Tensor) else self.infer
        return infer(features)


def _hears_gradients(callback: Callback) -> bool:
    """Return whether a callback does anything when the gradients are known."""
    return type(callback).on_grad_computed is not Callback.on_grad_computed


def _hears_batches(callback: Callback) -> bool:
    """Return whether a callback does anything at the begin or end of a batch."""
    if isinstance(callback, LRScheduler):
        return callback.step_every == "batch"
    hooks = ("on_batch_begin", "on_batch_end")
    return any(getattr(type(callback), h) is not getattr(Callback, h) for h in hooks)
