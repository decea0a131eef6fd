"""One epoch of training: forward pass, selection, optimizer step, for each batch."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from skpresto._data.batch import Batch
from skpresto._data.training_data import TrainingRows
from skpresto._heap import LARGE_OUTPUTS, return_freed_memory
from skpresto._label_quality.history import PredictionHistory
from skpresto._label_quality.recorder import Recorder
from skpresto._networks.forward import sample_losses
from skpresto._networks.net import NoisyLabelNet
from skpresto._training.machinery import Machinery
from skpresto._training.policy import Selection
from skpresto._training.stage import Stage
from skpresto._training.torch_state import pause_for_predictions

# Batches whose losses are collected before they are averaged together.
_BATCHES_AT_ONCE = 64


def run_epoch(
    net: NoisyLabelNet,
    machinery: Machinery,
    stage: Stage,
    history: PredictionHistory,
    recorders: Sequence[Recorder],
    rows: TrainingRows,
    sample_weight: Tensor | None,
    epoch: int,
) -> "EpochSums":
    """Train for one epoch.

    skorch's own loop makes one loss of a batch before a callback can see it, and waits
    for the device in each batch. This one keeps a loss per sample, records every
    prediction before the policy is called, and transfers losses once per epoch.

    Parameters
    ----------
    net : NoisyLabelNet
        The net.
    machinery : Machinery
        Makes batches, and applies and updates the networks.
    stage : Stage
        Its policy selects what is learned.
    history : PredictionHistory
        The first of the recorders; it is told the order of the epoch.
    recorders : sequence of Recorder
        See every batch before the policy does.
    rows : TrainingRows
        What to train on.
    sample_weight : Tensor of shape (n_samples,), or None
        Weights by which those of the policy are multiplied.
    epoch : int
        Number of epochs completed before.
    """
    policy, tally = stage.policy, Tally()
    net._set_training(True)
    step = machinery.step(policy, sample_weight is not None)
    has_listeners = net.is_heard("on_batch_begin", "on_batch_end")
    n_outputs = len(net.networks) * net.batch_size * history.n_classes
    is_large = n_outputs >= LARGE_OUTPUTS
    batches = machinery.batches(rows, epoch)
    history.expect(batches.order)
    with machinery.randomness(epoch):
        for features, labels, index in batches:
            pause_for_predictions()
            if has_listeners:
                net.notify_batch_begin((features, labels))
            view = step.view(features, len(labels)) if policy.needs_views else None
            outputs = step.forward(features, len(labels))
            losses = sample_losses(net.criterion_, outputs, labels)
            fold = None if stage.folds is None else stage.folds.index_select(0, index)
            # With a leading axis for networks.
            logits = outputs.detach().reshape(-1, *outputs.shape[-2:])
            seen = losses.detach().view(logits.shape[:2])
            batch = Batch(index, labels, logits, seen, epoch, fold, view)
            for recorder in recorders:
                recorder.record(batch)
            if policy.needs_gradients:
                batch = batch._replace(losses=losses.view(seen.shape))
            selection = policy.select(batch)
            learned = selected_losses(net.criterion_, selection, outputs, losses)
            is_same = learned is losses
            seen = seen if is_same else learned.detach().view(seen.shape)
            weights = total_weights(selection, sample_weight, index, seen)
            step.learn(learned, weights, (features, labels))
            tally.add(seen, weights)
            if has_listeners:
                net.notify_batch_end((features, labels), outputs, tally.last_loss())
            if is_large:
                return_freed_memory()
    for recorder in recorders:
        recorder.end_epoch()
    return tally.sums()


def selected_losses(
    criterion: Any, selection: Selection, outputs: Tensor, losses: Tensor
) -> Tensor:
    """Return the losses to minimize, with gradients, of shape (k * b,)."""
    if selection.targets is not None:
        losses = sample_losses(criterion, outputs, selection.targets)
    if selection.objective is not None:
        logits = outputs.reshape(-1, *outputs.shape[-2:])
        losses = selection.objective(logits, losses.view(logits.shape[:2]))
    return losses.flatten()  # itself if it is flat, without an operator


def total_weights(
    selection: Selection, sample_weight: Tensor | None, index: Tensor, losses: Tensor
) -> Tensor | None:
    """Return the weights of the policy times those of the samples."""
    if sample_weight is None:
        return selection.weights
    own = sample_weight.index_select(0, index).to(losses.dtype).expand_as(losses)
    return own if selection.weights is None else own * selection.weights


class EpochSums(NamedTuple):
    """The sums of a :class:`Tally`.

    Parameters
    ----------
    losses : list of float or None
        Mean loss of each batch; None where nothing was selected.
    n_selected : int
        Samples selected, summed over the networks.
    n_skipped : int
        Batches in which nothing was selected.
    """

    losses: list[float | None]
    n_selected: int
    n_skipped: int


class Tally:
    """Collect losses and weights of each batch without waiting for the device."""

    def __init__(self) -> None:
        self._losses: list[Tensor] = []
        self._weights: list[Any] = []
        self._kind: tuple[torch.Size, bool] | None = None
        self._means: list[Tensor] = []
        self._n_selected: list[Tensor] = []

    def add(self, losses: Tensor, weights: Tensor | None) -> None:
        """Add a batch.

        Parameters
        ----------
        losses : Tensor of shape (k, b)
            Losses of the samples for each network.
        weights : Tensor of shape (k, b), or None
            Weights of the samples; None means that all were selected.
        """
        kind = losses.shape, weights is None
        if kind != self._kind or len(self._losses) == _BATCHES_AT_ONCE:
            self._average()
        self._kind = kind
        self._losses.append(losses)
        self._weights.append(weights)

    def last_loss(self) -> Tensor | None:
        """Return the mean loss of the last batch, None if nothing was selected."""
        losses, weights = self._losses[-1], self._weights[-1]
        single = None if weights is None else weights.unsqueeze(0)
        means, n_selected = mean_losses(losses.unsqueeze(0), single)
        return means[0] if n_selected[0] else None

    def sums(self) -> EpochSums:
        """Return the sums over all batches. Waits for the device."""
        self._average()
        n_selected = torch.cat(self._n_selected).tolist()
        losses = [
            loss if n else None
            for loss, n in zip(torch.cat(self._means).tolist(), n_selected, strict=True)
        ]
        return EpochSums(losses, sum(n_selected), n_selected.count(0))

    def _average(self) -> None:
        """Reduce the collected batches, all of one kind, to two numbers each."""
        if not self._losses:
            return
        is_plain = self._weights[0] is None
        weights = None if is_plain else torch.stack(self._weights)
        means, n_selected = mean_losses(torch.stack(self._losses), weights)
        self._means.append(means)
        self._n_selected.append(n_selected)
        self._losses.clear()
        self._weights.clear()


def mean_losses(losses: Tensor, weights: Tensor | None) -> tuple[Tensor, Tensor]:
    """Return the mean loss of batches of one shape, and the number of samples.

    Parameters
    ----------
    losses : Tensor of shape (n_batches, k, b)
        Losses of the samples for each network. The mean losses of the networks are
        added up.
    weights : like losses, or None
        Weights of the samples. A batch in which all are zero has a loss of 0.

    Returns
    -------
    means : Tensor of shape (n_batches,)
        Mean losses.
    n_selected : Tensor of shape (n_batches,)
        Number of weights that are not 0.
    """
    if weights is None:
        sizes = torch.full((len(losses),), losses[0].numel(), device=losses.device)
        return losses.mean(dim=2).sum(dim=1), sizes
    totals = weights.sum(dim=2)
    means = (losses * weights).sum(dim=2) / totals.where(totals > 0, 1)
    return means.sum(dim=1), torch.count_nonzero(weights, dim=(1, 2))
