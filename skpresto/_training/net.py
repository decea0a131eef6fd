"""The network: skorch with a policy. The only file that imports skorch."""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from skorch import NeuralNet
from skorch.callbacks import Callback, LRScheduler
from skorch.utils import TeeGenerator, to_device
from torch import Tensor, nn
from torch.utils.data import DataLoader

from skpresto._training.batch import Batch, Selection
from skpresto._training.batching import (
    BatchOrder,
    PredictionRows,
    TensorBatches,
    TensorBlocks,
    TrainingRows,
    rows_at_once,
)
from skpresto._training.label_history import LabelHistory
from skpresto._training.policy import SelectionPolicy

__all__ = ["LRScheduler", "NetworkStack", "PolicyNet"]


class NetworkStack(nn.Module):
    """Networks that are trained side by side and predict together.

    In training the output has a leading axis, one entry a network. In evaluation it
    is the logarithm of the networks' mean probability (up to a constant), so that
    prediction, validation and scoring see an ordinary classifier.
    """

    def __init__(self, networks: list[nn.Module]) -> None:
        super().__init__()
        self.networks = nn.ModuleList(networks)

    def forward(self, X: Tensor) -> Tensor:
        """Return logits of shape (k, b, c) in training, (b, c) in evaluation."""
        outputs = torch.stack([network(X) for network in self.networks])
        if self.training:
            return outputs
        return torch.logsumexp(torch.log_softmax(outputs, dim=-1), dim=0)


class PolicyNet(NeuralNet):
    """A skorch net that asks its policy what each mini-batch learns from.

    What the Trainer hangs on the net ends in an underscore, so that skorch does not
    take it for a parameter, and is taken off again after training.
    """

    policy_: SelectionPolicy
    label_history_: LabelHistory
    #: Number of epochs finished.
    n_epochs_: int
    #: Number of samples selected in this epoch, and of batches without any.
    n_selected_: Tensor | int
    n_skipped_: int
    #: Two training samples, with which a new module is tried, and the class count.
    trial_: Any
    n_classes_: int
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
        super().initialize_module()
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

    def get_iterator(self, dataset: Any, training: bool = False) -> Any:
        """Return batches of whole tensors where the data are in memory."""
        prefix = "iterator_train" if training else "iterator_valid"
        kwargs = self.get_params_for(prefix)
        in_memory = isinstance(getattr(dataset, "X", None), (Tensor, np.ndarray))
        if isinstance(dataset, PredictionRows) and in_memory:
            size = kwargs.pop("batch_size", rows_at_once(dataset.X, self.batch_size))
            if not kwargs:
                return TensorBlocks(dataset, size)
        if isinstance(dataset, TrainingRows):
            return self._training_batches(dataset, kwargs, in_memory)
        return super().get_iterator(dataset, training=training)

    def _training_batches(
        self, dataset: TrainingRows, kwargs: dict[str, Any], in_memory: bool
    ) -> Any:
        if {"sampler", "batch_sampler"} & set(kwargs):
            # A sampler of the user's may draw a row twice.
            self.label_history_.has_repeated_visits = True
            return super().get_iterator(dataset, training=True)
        order = BatchOrder(
            len(dataset),
            kwargs.pop("batch_size", self.batch_size),
            kwargs.pop("shuffle", True),
            kwargs.pop("drop_last", False),
        )
        if in_memory and not kwargs:
            return TensorBatches(dataset, order)
        return DataLoader(dataset, batch_sampler=order, **kwargs)  # type: ignore[arg-type]

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
        self.n_selected_ = self.n_skipped_ = 0
        hears_batches = any(_hears_batches(callback) for _, callback in self.callbacks_)
        losses = []
        for features, labels, index in iterator:
            if hears_batches:
                batch = (features, labels)
                self.notify("on_batch_begin", batch=batch, training=True)
                step = self.train_step((features, labels, index))
                self.notify("on_batch_end", batch=batch, training=True, **step)
            else:
                self.history.new_batch()
                step = self.train_step((features, labels, index))
            losses.append(step["loss"])
        self.label_history_.settle()
        self._record_losses(losses)
        for name, value in self.evaluate_().items():
            self.history.record(name, value)

    def _record_losses(self, losses: list[Tensor | None]) -> None:
        """Write the losses of an epoch into skorch's history."""
        learnt = [loss for loss in losses if loss is not None]
        values = iter(torch.stack(learnt).tolist() if learnt else [])
        every = [None if loss is None else next(values) for loss in losses]
        for record, value in zip(self.history[-1]["batches"], every, strict=True):
            record["train_loss"] = value
        known = [value for value in every if value is not None]
        self.history.record("train_loss", float(np.mean(known)) if known else np.nan)
        self.history.record("train_batch_count", len(every))

    def train_step(self, batch: Any, **fit_params: Any) -> dict[str, Any]:
        """Learn from what the policy selects of the batch."""
        features, labels, index = batch
        labels, index = labels.to(self.device), index.to(self.device)
        self._zero_grad_optimizer()
        statistics = self._copy_statistics()
        outputs = self.infer(features)
        logits = outputs if outputs.dim() == 3 else outputs.unsqueeze(0)
        losses = self._sample_losses(logits, labels)
        with torch.no_grad():
            self.label_history_.record(index, _predicted_classes(logits))
            selection = self.policy_.select(
                Batch(index, labels, logits.detach(), losses.detach(), self.n_epochs_)
            )
        loss, is_learning = self._selected_loss(logits, losses, selection)
        if loss is not None:
            loss.backward()
        if not all(is_learning):
            self._undo_forward(statistics, is_learning)
        if loss is None:
            self.n_skipped_ += 1
            return {"loss": None, "y_pred": outputs.detach()}
        if self._hears_gradients():
            self.notify(
                "on_grad_computed",
                named_parameters=TeeGenerator(self.get_all_learnable_params()),
                batch=batch[:2],
                training=True,
            )
        self._step_optimizer(None)
        return {"loss": loss.detach(), "y_pred": outputs.detach()}

    def _zero_grad_optimizer(self, set_to_none: bool | None = None) -> None:
        # What optimizer.zero_grad() does, without its profiling of each call.
        for group in self.optimizer_.param_groups:
            for parameter in group["params"]:
                parameter.grad = None

    def _hears_gradients(self) -> bool:
        return any(
            type(callback).on_grad_computed is not Callback.on_grad_computed
            for _, callback in self.callbacks_
        )

    def _sample_losses(self, logits: Tensor, labels: Tensor) -> Tensor:
        """Return the loss of each sample for each network, of shape (k, b)."""
        n_networks, n_samples, _ = logits.shape
        if labels.dim() == 1 and n_networks > 1:
            labels = labels.expand(n_networks, n_samples)
        if n_networks == 1:
            losses = self.criterion_(logits[0], labels.view(n_samples))
        else:
            losses = self.criterion_(logits.flatten(0, 1), labels.flatten())
        if losses.shape != (n_networks * n_samples,):
            raise ValueError(
                f"criterion must return one loss a sample, here of shape "
                f"({n_networks * n_samples},); {type(self.criterion_).__name__} "
                f"returned {tuple(losses.shape)}. Use one that takes "
                "reduction='none'."
            )
        return losses.view(n_networks, n_samples)

    def _selected_loss(
        self, logits: Tensor, losses: Tensor, selection: Selection
    ) -> tuple[Tensor | None, list[bool]]:
        """Return the loss to learn from, if any, and which networks learn."""
        if selection.labels is not None:
            losses = self._sample_losses(logits, selection.labels)
        if selection.weights is None:
            self.n_selected_ += losses.numel()
            return losses.mean(dim=1).sum(), [True] * len(losses)
        self.n_selected_ += torch.count_nonzero(selection.weights)
        totals = selection.weights.sum(dim=1)
        is_learning = (totals > 0).tolist()
        if not any(is_learning):
            return None, is_learning
        sums = (losses * selection.weights).sum(dim=1)
        return (sums / totals.where(totals > 0, 1.0)).sum(), is_learning

    @property
    def networks(self) -> list[nn.Module]:
        """The networks trained side by side."""
        if isinstance(self.module_, NetworkStack):
            return list(self.module_.networks)
        return [self.module_]

    def _copy_statistics(self) -> list[list[Tensor]]:
        """Return what a forward pass changes in each network: BatchNorm's buffers."""
        if not self.policy_.may_select_nothing:
            return []
        return [[b.clone() for b in net.buffers()] for net in self.networks]

    def _undo_forward(
        self, statistics: list[list[Tensor]], is_learning: list[bool]
    ) -> None:
        """Leave no trace of the batch in the networks that learn nothing from it."""
        networks = zip(self.networks, statistics, is_learning, strict=True)
        for network, buffers, learns in networks:
            if learns:
                continue
            # With a gradient of zero, momentum and weight decay would still move the
            # weights; without one, the optimizer passes them over.
            network.zero_grad(set_to_none=True)
            for buffer, before in zip(network.buffers(), buffers, strict=True):
                buffer.copy_(before)

    def predicted_classes(self, rows: PredictionRows) -> Tensor:
        """Return the class predicted for each row, in evaluation mode."""
        outputs = self.forward_iter(rows, training=False, device=self.device)
        return torch.cat([output.argmax(dim=-1) for output in outputs])


def _hears_batches(callback: Callback) -> bool:
    """Return whether a callback does anything at the begin or end of a batch."""
    if isinstance(callback, LRScheduler):
        return callback.step_every == "batch"
    hooks = ("on_batch_begin", "on_batch_end")
    return any(getattr(type(callback), h) is not getattr(Callback, h) for h in hooks)


def _predicted_classes(logits: Tensor) -> Tensor:
    """Return the class that the networks predict together, from (k, b, c) logits."""
    if len(logits) == 1:
        return logits[0].argmax(dim=1)
    return torch.softmax(logits, dim=-1).mean(dim=0).argmax(dim=1)
