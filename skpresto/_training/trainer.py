"""The Trainer: phases, records, and the way back to the stop point."""

import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from skpresto._training.batching import PredictionRows, TrainingRows
from skpresto._training.checkpoints import Checkpoint, CheckpointShelf
from skpresto._training.label_history import LabelHistory
from skpresto._training.net import PolicyNet
from skpresto._training.network_stack import LearnerAndPartners
from skpresto._training.policy import SelectionPolicy
from skpresto._training.progress import Progress
from skpresto.exceptions import TrainingDivergedError
from skpresto.stopping import EpochRecord, StopRule


@dataclass(frozen=True)
class TrainingData:
    """What ``fit`` was given, as the Trainer needs it.

    Parameters
    ----------
    X : Tensor, ndarray or DatasetFeatures
        Rows to train on.
    labels : Tensor of shape (n_samples,)
        Their labels as given, as class numbers.
    n_classes : int
        Number of classes.
    X_valid, valid_labels : like X and labels, or None
        Validation data.
    is_correct : Tensor of shape (n_samples,), dtype=bool, or None
        Which labels are the true ones, where that is known.
    """

    X: Any
    labels: Tensor
    n_classes: int
    X_valid: Any = None
    valid_labels: Tensor | None = None
    is_correct: Tensor | None = None


class Trainer:
    """Run a net epoch by epoch under a policy, and keep what is needed to go back.

    Parameters
    ----------
    net : PolicyNet
        The net, not yet initialized.
    data : TrainingData
        What to train on.
    q : int
        Length of the label history.
    progress : Progress
        Told of every epoch.

    Attributes
    ----------
    records : list of EpochRecord
        One an epoch, of all runs.
    label_history : LabelHistory
        The last ``q`` predictions of every training sample.
    """

    def __init__(
        self, net: PolicyNet, data: TrainingData, q: int, progress: Progress
    ) -> None:
        self.net = net
        self.data = data
        self.progress = progress
        self.records: list[EpochRecord] = []
        self.labels = data.labels.to(net.device)
        self.label_history = LabelHistory(
            len(data.labels), data.n_classes, q, device=net.device
        )
        net.label_history_ = self.label_history
        self._shelf = CheckpointShelf()
        self.restart()

    @property
    def n_epochs(self) -> int:
        """Number of epochs the net has behind it; going back takes some off."""
        return self.net.n_epochs_

    def restart(
        self, n_networks: int | None = None, partners: Iterable[nn.Module] = ()
    ) -> None:
        """Begin anew: fresh network, optimizer, schedule and label history.

        Parameters
        ----------
        n_networks : int, default=None
            Number of networks to train side by side; None means as many as before.
        partners : iterable of nn.Module
            Trained networks that are to predict together with the fresh one.
        """
        if n_networks is not None:
            self.net.n_networks_ = n_networks
        self.net.initialize()
        if partners := list(partners):
            self.net.module_ = LearnerAndPartners(self.net.module_, partners)
        self.net.n_epochs_ = 0
        self.label_history.clear()
        self.net.notify("on_train_begin", X=self.data.X, y=self.data.labels)

    def run(
        self,
        policy: SelectionPolicy,
        n_epochs: int,
        *,
        phase: int = 1,
        holdout: Tensor | None = None,
        rule: StopRule | None = None,
    ) -> bool:
        """Train for ``n_epochs``, or until ``rule`` is settled.

        Parameters
        ----------
        policy : SelectionPolicy
            Says what each batch learns from.
        n_epochs : int
            Number of epochs at most.
        phase : int, default=1
            Written into the records.
        holdout : Tensor of positions, or None
            Rows to leave out of training and to measure the error on.
        rule : StopRule or None
            Chooses the stop point, to which :meth:`go_back_to_stop_point` returns.

        Returns
        -------
        is_settled : bool
            Whether the rule is settled. False without a rule.
        """
        dataset = TrainingRows(
            self.data.X, self.data.labels, self._rows_without(holdout)
        )
        self.net.policy_ = policy
        first = len(self.records)
        for _ in range(n_epochs):
            self._run_epoch(dataset, phase, holdout)
            if rule is not None:
                seen = self.records[first:]
                self._keep_contenders(rule, seen)
                if rule.is_settled(seen):
                    return True
        return False

    def go_back_to(self, position: int) -> None:
        """Return to the state after the epoch at ``position`` of the last run."""
        if position not in self._shelf:
            raise ValueError(
                f"There is no checkpoint of epoch {position + 1}: the candidate of a "
                "stop rule must be one of the epochs seen, and must never move "
                "backwards as records are added."
            )
        self._shelf.get(position).restore(self.net)
        self._shelf.clear()

    def visit_the_unvisited(self) -> None:
        """Give a sample that no epoch has visited one vote, as a new sample."""
        unvisited = (~self.label_history.is_visited()).nonzero().squeeze(1)
        if len(unvisited):
            rows = PredictionRows(self.data.X, unvisited.cpu())
            self.label_history.record(unvisited, self.net.predicted_classes(rows))

    def finish(self) -> None:
        """Take off the net what was hung on it for training, and see that it works."""
        if not self.net.is_finite():
            raise TrainingDivergedError(
                "Training diverged in its last steps: the network has parameters or "
                "outputs that are not finite, so it is useless. Lower the learning "
                f"rate (lr={self.net.lr}), scale the columns of X, or see that the "
                "module returns finite logits."
            )
        self.net.notify("on_train_end", X=self.data.X, y=self.data.labels)
        for name in ("policy_", "label_history_", "evaluate_", "trial_", "make_"):
            if name in vars(self.net):
                delattr(self.net, name)

    def _rows_without(self, holdout: Tensor | None) -> Tensor | None:
        if holdout is None:
            return None
        kept = torch.ones(len(self.data.labels), dtype=torch.bool)
        kept[holdout] = False
        return kept.nonzero().squeeze(1)

    def _keep_contenders(self, rule: StopRule, seen: list[EpochRecord]) -> None:
        contenders = rule.contenders(seen)
        self._shelf.keep_only(contenders)
        present = len(seen) - 1
        if present in contenders:
            self._shelf.put(present, Checkpoint.of(self.net))

    def _run_epoch(
        self, dataset: TrainingRows, phase: int, holdout: Tensor | None
    ) -> None:
        started = time.perf_counter()
        self.net.evaluate_ = lambda: self._evaluate(holdout)
        before = self.label_history.newest().clone()
        was_visited = self.label_history.is_visited()
        learning_rate = self.net.optimizer_.param_groups[0]["lr"]
        self.net.fit_loop(dataset, epochs=1)
        self.net.n_epochs_ += 1
        self._check_finite(self.net.history[-1, "train_loss"])
        fields = self._measure(dataset.rows, before, was_visited)
        record = EpochRecord(
            epoch=self.n_epochs,
            phase=phase,
            learning_rate=learning_rate,
            seconds=time.perf_counter() - started,
            **fields,
        )
        self.records.append(record)
        self.progress.show(record)

    def _check_finite(self, train_loss: float) -> None:
        skipped_all = self.net.n_skipped_ == self.net.history[-1, "train_batch_count"]
        if not (np.isfinite(train_loss) or skipped_all):
            raise TrainingDivergedError(
                f"Training diverged: the mean loss of epoch {self.n_epochs} is "
                f"{train_loss}, so the network is useless. Lower the learning rate "
                f"(lr={self.net.lr}), scale the columns of X, or see that the module "
                "returns finite logits."
            )

    def _evaluate(self, holdout: Tensor | None) -> dict[str, float]:
        errors = {}
        if self.data.X_valid is not None:
            errors["valid_error"] = self._error(
                PredictionRows(self.data.X_valid), self.data.valid_labels
            )
        if holdout is not None:
            errors["holdout_error"] = self._error(
                PredictionRows(self.data.X, holdout), self.data.labels[holdout]
            )
        return errors

    def _error(self, rows: PredictionRows, labels: Tensor | None) -> float:
        assert labels is not None
        predicted = self.net.predicted_classes(rows)
        return (predicted != labels.to(predicted.device)).double().mean().item()

    def _measure(
        self, rows: Tensor | None, before: Tensor, was_visited: Tensor
    ) -> dict[str, Any]:
        """Return what the epoch's predictions say, over the rows trained on."""
        visited = slice(None) if rows is None else rows.to(self.net.device)
        now = self.label_history.newest()
        is_changed = ((now != before) | ~was_visited)[visited]
        # What counts is what the policy itself takes to be safe, if it says so.
        policy = self.net.policy_
        vote = self.label_history if policy.vote is None else policy.vote
        is_memorized = vote.agrees(self.labels)[visited]
        epoch = self.net.history[-1]
        n_learners = len(self.net.networks) * len(is_memorized)
        return {
            "train_loss": epoch["train_loss"] / len(self.net.networks),
            "train_error": _share((now != self.labels)[visited]),
            "memorized_fraction": _share(is_memorized),
            "changed_fraction": _share(is_changed),
            "selected_fraction": int(self.net.n_selected_) / n_learners,
            "n_skipped_batches": self.net.n_skipped_,
            "valid_error": epoch.get("valid_error"),
            "holdout_error": epoch.get("holdout_error"),
            "n_valid": _length(self.data.valid_labels),
            "n_holdout": len(self.labels) - len(is_memorized) or None,
            **self._memorization(visited, is_memorized),
            **self.net.policy_.epoch_summary(),
        }

    def _memorization(
        self, rows: Tensor | slice, is_memorized: Tensor
    ) -> dict[str, float]:
        """Return memorization precision and recall, where true labels are known."""
        if self.data.is_correct is None:
            return {}
        is_correct = self.data.is_correct.to(self.net.device)[rows]
        both = (is_memorized & is_correct).sum().item()
        n_memorized = is_memorized.sum().item()
        n_correct = is_correct.sum().item()
        return {
            "memorization_precision": both / n_memorized if n_memorized else np.nan,
            "memorization_recall": both / n_correct if n_correct else np.nan,
        }


def _share(mask: Tensor) -> float:
    return mask.double().mean().item()


def _length(labels: Tensor | None) -> int | None:
    return None if labels is None else len(labels)
