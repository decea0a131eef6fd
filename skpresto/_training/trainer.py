"""The Trainer: runs stages of epochs, records them, and goes back to the stop point."""

from collections.abc import Callable, Iterable
from dataclasses import replace

import torch
from torch import Tensor, nn

from skpresto._data.training_data import PredictionRows, TrainingData, TrainingRows
from skpresto._label_quality.history import PredictionHistory
from skpresto._networks.losses import sample_losses
from skpresto._networks.net import NoisyLabelNet
from skpresto._networks.predictions import MISSING, require_predictions
from skpresto._networks.stack import FinalAndFoldNetworks
from skpresto._training.checkpoint import Checkpoint, CheckpointStore
from skpresto._training.divergence import check_networks
from skpresto._training.epoch import Observer
from skpresto._training.epoch_runner import EpochRunner
from skpresto._training.fit_task import FitTask
from skpresto._training.interrupt import EarlierNetworks
from skpresto._training.journal import Journal, NoJournal
from skpresto._training.policy import SelectionPolicy
from skpresto._training.progress import Progress
from skpresto._training.run_state import RunState
from skpresto._training.team import Alone, Team
from skpresto.stopping import EpochRecord, StopRule


class Trainer:
    """Train networks stage by stage under policies, and keep what is needed to go back.

    Parameters
    ----------
    net : NoisyLabelNet
        The net, not yet initialized.
    data : TrainingData
        What to train on.
    q : int
        Length of the prediction history.
    progress : Progress
        Shows every epoch to the user.
    task : FitTask, default=None
        The fit, for callbacks of scikit-learn.
    journal : Journal, default=None
        Stores the progress of the fit.
    team : Team, default=None
        The processes that train together; None means this one alone.

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
        data: TrainingData,
        q: int,
        progress: Progress,
        task: FitTask | None = None,
        journal: Journal | None = None,
        team: Team | None = None,
    ) -> None:
        self.net = net
        self.data = data
        self.progress = progress
        self.journal = journal or NoJournal()
        self.team = team or Alone()
        self.records: list[EpochRecord] = []
        self.n_epochs = 0
        self.labels = data.labels.to(net.device)
        self.history = PredictionHistory(
            len(data.labels), data.n_classes, q, device=net.device
        )
        self._epochs = EpochRunner(net, data, self.history, self.labels, self.team)
        self.checkpoints = CheckpointStore()
        self._task = task or FitTask()
        self._is_started = False
        self.earlier = EarlierNetworks()

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
        self.earlier.remember(self)
        self.n_epochs = 0
        blueprint = self.net.blueprint_
        self.net.blueprint_ = replace(
            blueprint,
            n_networks=n_networks,
            must_differ=must_differ,
            n_epochs=n_epochs or blueprint.max_epochs,
        )
        self.net.start(self.data.X.source, self.data.labels)
        self._is_started = True
        self.team.begin_training(self.net)
        if folds := list(folds):
            self.net.module_ = FinalAndFoldNetworks(self.net.module_, folds)
        self.history.clear()

    def run(
        self,
        policy: SelectionPolicy,
        n_epochs: int,
        *,
        stage: str,
        holdout: Tensor | None = None,
        rule: StopRule | None = None,
        until: Callable[[], bool] | None = None,
        observe: Observer | None = None,
    ) -> bool:
        """Train for ``n_epochs``, or until ``rule`` or ``until`` ends the stage.

        Parameters
        ----------
        policy : SelectionPolicy
            Decides what each batch learns from.
        n_epochs : int
            Largest number of epochs.
        stage : str
            Name of the stage, for the records.
        holdout : Tensor of positions, or None
            Rows to leave out of training, and to measure the error on.
        rule : StopRule or None
            Chooses the stop point, to which :meth:`go_back_to` returns.
        until : callable, default=None
            Called after each epoch; the stage ends when it returns True.
        observe : callable, default=None
            Called for each batch, see :data:`~skpresto._training.epoch.Observer`.

        Returns
        -------
        is_settled : bool
            Whether ``rule`` or ``until`` ended the stage.
        """
        rows = self.data.training_rows(holdout)
        self.net.stage_ = stage
        run = RunState(self, stage, policy, observe)
        self.journal.resume(run)
        is_over = run.n_epochs > 0 and self._is_over(run, rule, until)
        is_stopped = False
        with self._task.subtask(stage, max_subtasks=n_epochs) as task:
            while not (is_over or is_stopped) and run.n_epochs < n_epochs:
                with task.subtask("epoch") as epoch:
                    self._run_epoch(rows, policy, stage, holdout, observe)
                if rule is not None:
                    self._keep_contenders(rule, self.records[run.first :])
                self.journal.save(run)
                is_over, is_stopped = self.team.agreed(
                    (self._is_over(run, rule, until), epoch.is_stopped)
                )
        return is_over

    def _is_over(
        self, run: RunState, rule: StopRule | None, until: Callable[[], bool] | None
    ) -> bool:
        """Return whether ``rule`` or ``until`` ends the stage."""
        if rule is not None and rule.is_settled(self.records[run.first :]):
            return True
        return until is not None and until()

    def go_back_to(self, position: int) -> None:
        """Return to the state after the epoch at ``position`` of the last stage."""
        if position not in self.checkpoints:
            raise ValueError(
                f"There is no checkpoint of epoch {position + 1}: the candidate of a "
                "stop rule must be one of the epochs seen, and must never move "
                "backwards as records are added."
            )
        checkpoint = self.checkpoints.get(position)
        checkpoint.restore(self.net, self.history)
        self.n_epochs = checkpoint.n_epochs
        self.checkpoints.clear()

    def predict_unseen_samples(self) -> None:
        """Record one prediction for each sample that was not visited."""
        unseen = (~self.history.is_visited()).nonzero().squeeze(1)
        if len(unseen):
            rows = PredictionRows(self.data.X, unseen.cpu())
            predicted = self.team.predict(self.net.predicted_classes, rows)
            require_predictions(predicted == MISSING)
            self.history.record(unseen, predicted.to(unseen.device))

    def predicted_probabilities(self, index: Tensor) -> Tensor:
        """Return the probabilities predicted at present for samples at ``index``."""
        rows = PredictionRows(self.data.X, index.cpu())
        probabilities = self.team.predict(self._probabilities, rows)
        require_predictions(probabilities.isnan().any(dim=1))
        return probabilities.to(index.device)

    def _probabilities(self, rows: PredictionRows) -> Tensor:
        return torch.from_numpy(self.net.predict_proba(rows))

    def evaluated_losses(self) -> Tensor:
        """Return the loss of every training sample at present, in evaluation mode."""
        check_networks(self.net)
        rows = PredictionRows(self.data.X, None, self.data.labels)
        losses = self.team.predict(self._losses, rows)
        require_predictions(losses.isnan())
        return losses.to(self.labels.device)

    def _losses(self, rows: PredictionRows) -> Tensor:
        net = self.net
        with torch.no_grad():
            parts = [
                sample_losses(
                    net.criterion_, net.evaluation_step(batch), batch[1].to(net.device)
                )
                for batch in net.get_iterator(rows)
            ]
        return torch.cat(parts)

    def finish(self) -> None:
        """End the training, and check that the networks are usable."""
        check_networks(self.net)
        self._end_training()
        self.net.forget_training()

    def _end_training(self) -> None:
        if self._is_started:
            X, y = self.data.X.source, self.data.labels
            self.net.notify("on_train_end", X=X, y=y)
        self._is_started = False

    def _keep_contenders(self, rule: StopRule, seen: list[EpochRecord]) -> None:
        contenders = rule.contenders(seen)
        self.checkpoints.keep_only(contenders)
        present = len(seen) - 1
        if present in contenders:
            checkpoint = Checkpoint.of(self.net, self.history, self.n_epochs)
            self.checkpoints.put(present, checkpoint)

    def _run_epoch(
        self,
        rows: TrainingRows,
        policy: SelectionPolicy,
        stage: str,
        holdout: Tensor | None,
        observe: Observer | None,
    ) -> None:
        record = self._epochs.run(
            rows, policy, self.n_epochs, stage=stage, holdout=holdout, observe=observe
        )
        record = self.team.agreed(record)
        self.team.end_epoch(self.net)
        self.n_epochs += 1
        self.records.append(record)
        self.progress.show(record)
