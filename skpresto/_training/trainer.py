"""The Trainer: runs stages of epochs, records them, and goes back to the stop point."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from skpresto._data.training_data import PredictionRows, TrainingData, TrainingRows
from skpresto._label_quality.history import PredictionHistory
from skpresto._label_quality.recorder import Recorder
from skpresto._networks.forward import MISSING, require_predictions
from skpresto._networks.net import NoisyLabelNet
from skpresto._networks.new import Blueprint
from skpresto._networks.stack import FinalAndFoldNetworks
from skpresto._training.checkpoint import Checkpoint, CheckpointStore
from skpresto._training.context import FitContext, Journal
from skpresto._training.epoch import run_epoch
from skpresto._training.listeners import Listener
from skpresto._training.measure import EpochMeasurement, check_epoch, check_networks
from skpresto._training.stage import Stage, StageRun
from skpresto.stopping import EpochRecord


class StopPoint(NamedTuple):
    """The stop point of a stage, and whether its rule was settled before the end."""

    epoch: int
    is_settled: bool


class Trainer:
    """Train networks stage by stage, and keep what is needed to go back.

    Parameters
    ----------
    net : NoisyLabelNet
        The net, not yet initialized.
    blueprint : Blueprint
        What its networks are built from.
    data : TrainingData
        What to train on.
    q : int
        Length of the prediction history.
    rng : RandomState, default=None
        Draws what torch does not, such as rows to hold out.
    context : FitContext, default=None
        What surrounds the fit.
    journal : Journal, default=None
        Stores the progress of the fit; None stores nothing.
    listeners : sequence of Listener, default=()
        Are told of stages and epochs.

    Attributes
    ----------
    records : list of EpochRecord
        One per epoch, of all stages.
    history : PredictionHistory
        The last ``q`` predictions of every training sample.
    labels : Tensor of shape (n_samples,)
        Given labels, on the device of the net.
    n_epochs : int
        Number of epochs that the present networks have been trained for; going back
        reduces it.
    checkpoints : CheckpointStore
        Checkpoints of the epochs of this stage that may become the stop point.
    """

    def __init__(
        self,
        net: NoisyLabelNet,
        blueprint: Blueprint,
        data: TrainingData,
        q: int,
        rng: np.random.RandomState | None = None,
        context: FitContext | None = None,
        journal: Journal | None = None,
        listeners: Sequence[Listener] = (),
    ) -> None:
        self.net = net
        self.blueprint = blueprint
        self.data = data
        self.rng = rng or np.random.RandomState(0)
        self.context = context or FitContext()
        self.journal = journal
        self.listeners = listeners
        self.machinery = self.context.team.machinery(net, data)
        self.records: list[EpochRecord] = []
        self.n_epochs = 0
        self.labels = data.labels.to(net.device)
        self.history = PredictionHistory(
            len(data.labels), data.n_classes, q, device=net.device
        )
        weights = data.sample_weight
        self.sample_weight = None if weights is None else weights.to(net.device)
        self.checkpoints = CheckpointStore()
        self._is_started = False
        self._earlier: tuple | None = None
        if self.context.trajectories is not None:
            self.context.trajectories.begin(len(data.labels))

    def start(
        self,
        n_networks: int = 1,
        *,
        must_differ: bool = False,
        folds: Iterable[nn.Module] = (),
        n_epochs: int | None = None,
    ) -> None:
        """Start with new networks, optimizer, schedules and prediction history.

        Parameters
        ----------
        n_networks : int, default=1
            Number of networks to train side by side.
        must_differ : bool, default=False
            Whether they need different initial weights. Copies of a module instance
            are otherwise all trained from its weights.
        folds : iterable of nn.Module
            Trained networks that predict as an ensemble with the new ones.
        n_epochs : int, default=None
            Number of epochs that they will be trained for, if not ``max_epochs``; the
            built-in schedule depends on it.
        """
        self._end_training()
        if self.context.keeps_interrupted and self.n_epochs:
            predictions = self.history.state_dict()
            self._earlier = self.net.module_, self.n_epochs, predictions
        self.n_epochs = 0
        blueprint = replace(
            self.blueprint, n_networks=n_networks, must_differ=must_differ
        )
        if n_epochs is not None:
            blueprint = replace(blueprint, n_epochs=n_epochs)
        self.net.start(blueprint, self.data.X.source, self.data.labels)
        self._is_started = True
        self.machinery.begin_training()
        if folds := list(folds):
            self.net.module_ = FinalAndFoldNetworks(self.net.module_, folds)
        self.history.clear()

    def run(self, stage: Stage) -> bool:
        """Train until the epochs of a stage have ended, or something else ends it.

        Returns
        -------
        is_settled : bool
            Whether ``stage.rule`` or ``stage.until`` ended it.
        """
        rows = self.data.training_rows(stage.holdout)
        self.net.stage_ = stage.name
        run = StageRun(self, stage, first=len(self.records))
        if self.journal is not None:
            self.journal.resume(run)
        is_over, is_stopped = run.is_over, False
        for listener in self.listeners:
            listener.begin_stage(stage)
        while not (is_over or is_stopped) and len(run.records) < stage.n_epochs:
            is_stopped = self._run_epoch(rows, stage)
            if stage.rule is not None:
                self._keep_contenders(run)
            if self.journal is not None:
                self.journal.save(run)
            is_over, is_stopped = self.machinery.agreed((run.is_over, is_stopped))
        for listener in self.listeners:
            listener.end_stage()
        return is_over

    def search(self, stage: Stage) -> StopPoint:
        """Run a stage with a rule, then go back to the stop point that it chooses."""
        assert stage.rule is not None
        first = len(self.records)
        is_settled = self.run(stage)
        position = stage.rule.candidate(self.records[first:])
        self.go_back_to(position)
        return StopPoint(position + 1, is_settled)

    def go_back_to(self, position: int) -> None:
        """Return to the state after the epoch at ``position`` of the last stage."""
        if position not in self.checkpoints.epochs:
            raise ValueError(
                f"There is no checkpoint of epoch {position + 1}: the candidate of a "
                "stop rule must be one of the epochs seen, and must never move "
                "backwards as records are added."
            )
        self.go_back(self.checkpoints.get(position))
        self.checkpoints.keep_only(())

    def go_back(self, checkpoint: Checkpoint) -> None:
        """Return to the state of a checkpoint, even if Ctrl-C is pressed."""
        try:
            checkpoint.restore(self.net, self.history)
        except KeyboardInterrupt:  # half of a state must not be used
            checkpoint.restore(self.net, self.history)
            raise
        self.n_epochs = checkpoint.n_epochs

    def checkpoint(self) -> Checkpoint:
        """Return the present state."""
        return Checkpoint.of(self.net, self.history, self.n_epochs)

    def recorders_of(self, stage: Stage) -> list[Recorder]:
        """Return what records a stage, beside the prediction history."""
        trajectories = self.context.trajectories
        if stage.phase is None or trajectories is None:
            return list(stage.recorders)
        return [*stage.recorders, trajectories]

    def predict_unseen_samples(self) -> None:
        """Record one prediction for each sample that was not visited."""
        unseen = (~self.history.is_visited()).nonzero().squeeze(1)
        if len(unseen):
            rows = PredictionRows(self.data.X, unseen.cpu())
            predicted = self.machinery.predict(self.net.predicted_classes, rows)
            require_predictions(predicted == MISSING)
            self.history.add(unseen, predicted.to(unseen.device))

    def predicted_probabilities(self, index: Tensor) -> Tensor:
        """Return the probabilities predicted at present for samples at ``index``."""
        rows = PredictionRows(self.data.X, index.cpu())
        probabilities = self.machinery.predict(self._probabilities, rows)
        require_predictions(probabilities.isnan().any(dim=1))
        return probabilities.to(index.device)

    def _probabilities(self, rows: PredictionRows) -> Tensor:
        return torch.from_numpy(self.net.predict_proba(rows))

    def check_networks(self) -> None:
        """Raise if the networks have diverged."""
        check_networks(self.net, self.blueprint.probe_batch)

    def use_interrupted(self) -> bool:
        """Prepare for use after Ctrl-C; return whether what there is can be kept.

        That has to be asked for. If the present networks have not completed an epoch,
        those before are used.
        """
        if not (self.context.keeps_interrupted and self.context.team.is_alone):
            return False
        self.history.discard()
        if self.n_epochs == 0 and self._earlier is not None:
            self.net.module_, self.n_epochs, predictions = self._earlier
            self.history.load_state_dict(predictions)
        if self.n_epochs and self.journal is not None:
            self.journal.interrupted()
        return self.n_epochs > 0

    def finish(self) -> None:
        """End the training, and check that the networks are usable."""
        self.check_networks()
        self._end_training()
        self.net.forget_training()

    def _end_training(self) -> None:
        if self._is_started:
            X, y = self.data.X.source, self.data.labels
            self.net.notify("on_train_end", X=X, y=y)
        self._is_started = False

    def _keep_contenders(self, run: StageRun) -> None:
        assert run.stage.rule is not None
        contenders = run.stage.rule.contenders(run.records)
        self.checkpoints.keep_only(contenders)
        present = len(run.records) - 1
        if present in contenders:
            self.checkpoints.put(present, self.checkpoint())

    def _run_epoch(self, rows: TrainingRows, stage: Stage) -> bool:
        """Train for an epoch; return whether a listener ends the stage."""
        for listener in self.listeners:
            listener.begin_epoch()
        net, machinery, history = self.net, self.machinery, self.history
        measurement = EpochMeasurement(
            net, machinery, self.data, history, self.labels, stage
        )
        with net.epoch(rows, self.data.validation_rows()) as valid_rows:
            sums = run_epoch(
                net,
                machinery,
                stage,
                history,
                [history, *self.recorders_of(stage)],
                rows,
                self.sample_weight,
                self.n_epochs,
            )
            sums, errors = machinery.agreed((sums, measurement.errors(valid_rows)))
            train_loss = net.record_epoch(sums.losses, errors)
        check_epoch(net, self.n_epochs + 1, train_loss, sums, errors)
        record = measurement.record(self.n_epochs + 1, rows, sums, errors, train_loss)
        record = machinery.agreed(record)
        machinery.end_epoch()
        self.n_epochs += 1
        self.records.append(record)
        is_stopped = False
        for listener in self.listeners:
            is_stopped |= listener.end_epoch(record)
        return is_stopped
