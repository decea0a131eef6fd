"""One epoch of training: forward pass, selection, optimizer step, for each batch."""

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor

from skpresto._data.training_data import TrainingRows
from skpresto._heap import has_large_outputs, return_freed_memory
from skpresto._label_quality.history import PredictionHistory
from skpresto._networks.losses import sample_losses
from skpresto._networks.net import NoisyLabelNet
from skpresto._networks.stack import predicted_classes
from skpresto._training.policy import Batch, Selection, SelectionPolicy
from skpresto._training.step import Step, StepIfSelected, StepUnlessEmpty
from skpresto._training.tally import EpochSums, Tally
from skpresto._training.torch_state import pause_for_predictions

#: Receives positions of shape (b,), logits of shape (k, b, n_classes), and the number
#: of epochs completed.
Observer = Callable[[Tensor, Tensor, int], None]


class EpochLoop:
    """Train a net for one epoch at a time, on what a policy selects.

    skorch's own loop makes one loss of a batch before a callback can see it, and waits
    for the device in each batch. This one keeps a loss per sample, records every
    prediction before the policy is called, and transfers losses once per epoch.

    Parameters
    ----------
    net : NoisyLabelNet
        The net.
    history : PredictionHistory
        Receives the predicted class of every sample visited.
    sample_weight : Tensor of shape (n_samples,), or None
        Weights by which those of the policy are multiplied.
    """

    def __init__(
        self,
        net: NoisyLabelNet,
        history: PredictionHistory,
        sample_weight: Tensor | None = None,
    ) -> None:
        self.net = net
        self.history = history
        self.sample_weight = sample_weight
        #: Returns the outputs for the features of a batch.
        self.infer: Callable[[Any], Tensor] = net.infer

    def run(
        self,
        rows: TrainingRows,
        policy: SelectionPolicy,
        epoch: int,
        observe: Observer | None = None,
    ) -> EpochSums:
        """Train for one epoch.

        Parameters
        ----------
        rows : TrainingRows
            What to train on.
        policy : SelectionPolicy
            Decides what each batch learns from.
        epoch : int
            Number of epochs completed before.
        observe : callable, default=None
            Called for each batch, see :data:`Observer`.
        """
        net = self.net
        net._set_training(True)
        step, tally = self._step(policy), Tally()
        has_listeners = net.has_batch_callbacks
        is_large = has_large_outputs(
            len(net.networks), net.batch_size, self.history.n_classes
        )
        for batch in self._batches(rows, epoch):
            pause_for_predictions()
            if has_listeners:
                net.notify("on_batch_begin", batch=batch[:2], training=True)
            try:
                outputs = self._learn(batch, policy, epoch, step, tally, observe)
            except ValueError as error:
                raise_for_single_rows(error, len(batch[1]))
                raise
            if has_listeners:
                net.notify_batch_end(batch[:2], outputs, tally.last_loss())
            if is_large:
                return_freed_memory()
        self.history.flush()
        return tally.sums()

    def _batches(self, rows: TrainingRows, epoch: int) -> Iterable:
        """Return the batches of an epoch: features, labels and positions."""
        return self.net.training_batches(rows, self.history.expect, epoch)

    def _learn(
        self,
        batch: tuple[Any, Tensor, Tensor],
        policy: SelectionPolicy,
        epoch: int,
        step: Step,
        tally: Tally,
        observe: Observer | None,
    ) -> Tensor:
        """Learn from what the policy selects of the batch; return the outputs."""
        features, labels, index = batch
        step.begin()
        outputs = self.infer(features)
        losses = sample_losses(self.net.criterion_, outputs, labels)
        values = outputs.detach()
        logits = values.unsqueeze(0) if values.dim() == 2 else values
        seen = losses.detach().view(logits.shape[:2])
        self.history.record(index, predicted_classes(logits))
        if observe is not None:
            observe(index, logits, epoch)
        given = losses.view(seen.shape) if policy.needs_gradients else seen
        selection = policy.select(Batch(index, labels, logits, given, epoch))
        if selection.targets is not None or selection.objective is not None:
            losses = self._selected_losses(selection, outputs, losses)
            seen = losses.detach().view(logits.shape[:2])
        weights = self._weights(selection, index, seen)
        step.learn(losses, weights, batch[:2])
        tally.add(seen, weights)
        return values

    def _selected_losses(
        self, selection: Selection, outputs: Tensor, losses: Tensor
    ) -> Tensor:
        """Return the losses to minimize, with gradients, of shape (k * b,)."""
        if selection.targets is not None:
            losses = sample_losses(self.net.criterion_, outputs, selection.targets)
        if selection.objective is not None:
            logits = outputs.reshape(-1, *outputs.shape[-2:])
            losses = selection.objective(logits, losses.view(logits.shape[:2]))
        return losses.reshape(-1)

    def _weights(
        self, selection: Selection, index: Tensor, seen: Tensor
    ) -> Tensor | None:
        if self.sample_weight is None:
            return selection.weights
        own = self.sample_weight.index_select(0, index).to(seen.dtype).expand_as(seen)
        return own if selection.weights is None else own * selection.weights

    def _step(self, policy: SelectionPolicy) -> Step:
        """Return how steps are made in this epoch."""
        net = self.net
        on_gradients = net.notify_gradients if net.has_gradient_callbacks else None
        parts = net.module_, net.optimizer_, on_gradients, net.scaler_
        if not policy.may_select_nothing and self.sample_weight is None:
            return Step(*parts)
        # Callbacks are called for steps that are made, and for no others.
        has_listeners = net.has_gradient_callbacks or net.has_batch_callbacks
        waits = torch.device(net.device).type != "cpu"
        if waits and not has_listeners and StepUnlessEmpty.serves(*parts):
            return StepUnlessEmpty(*parts)
        return StepIfSelected(*parts)


def raise_for_single_rows(error: ValueError, n_rows: int) -> None:
    """Explain BatchNorm's error for a batch of one row."""
    if n_rows == 1 and "more than 1 value per channel" in str(error):
        raise ValueError(
            "module has BatchNorm layers, which cannot be trained on a batch of one "
            "row, whose variance is zero. Use a batch_size of 2 or more (and a sampler "
            "without batches of one row), or LayerNorm instead."
        ) from error
