"""One epoch of training with everything that is measured of it."""

import time
from typing import Any

from torch import Tensor

from skpresto._data.training_data import TrainingData, TrainingRows
from skpresto._label_quality.history import PredictionHistory
from skpresto._networks.net import NoisyLabelNet
from skpresto._training.divergence import check_epoch
from skpresto._training.epoch import Observer
from skpresto._training.measure import EpochMeasurement
from skpresto._training.policy import SelectionPolicy
from skpresto._training.team import Team
from skpresto.stopping import EpochRecord


class EpochRunner:
    """Train for one epoch at a time, with callbacks, and return its record.

    Parameters
    ----------
    net : NoisyLabelNet
        The net.
    data : TrainingData
        What to train on, and validation data.
    history : PredictionHistory
        Receives the predictions.
    labels : Tensor of shape (n_samples,)
        Given labels, on the device of the net.
    team : Team
        The processes that train together.
    """

    def __init__(
        self,
        net: NoisyLabelNet,
        data: TrainingData,
        history: PredictionHistory,
        labels: Tensor,
        team: Team,
    ) -> None:
        self.net = net
        self.data = data
        self.history = history
        self.labels = labels
        self.team = team
        weights = data.sample_weight
        self._loop = team.epoch_loop(
            net, history, None if weights is None else weights.to(net.device)
        )

    def run(
        self,
        rows: TrainingRows,
        policy: SelectionPolicy,
        n_before: int,
        *,
        stage: str,
        holdout: Tensor | None,
        observe: Observer | None,
    ) -> EpochRecord:
        """Train for one epoch.

        Parameters
        ----------
        rows : TrainingRows
            What to train on.
        policy : SelectionPolicy
            Decides what each batch learns from.
        n_before : int
            Number of epochs completed before.
        stage : str
            Name of the stage.
        holdout : Tensor of positions, or None
            Rows to measure the error on.
        observe : callable or None
            Called for each batch.
        """
        started = time.perf_counter()
        net, data, share = self.net, self.data, self.team.predict
        measurement = EpochMeasurement(self.history, self.labels, data)
        learning_rate = net.optimizer_.param_groups[0]["lr"]
        with net.epoch(rows, data.validation_rows()) as valid_rows:
            sums = self._loop.run(rows, policy, n_before, observe)
            errors: dict[str, Any] = {
                "valid_error": net.error_on(valid_rows, notify=True, share=share),
                "holdout_error": net.error_on(
                    data.held_out_rows(holdout),
                    weights=data.weights_of(holdout),
                    share=share,
                ),
            }
            sums, errors = self.team.agreed((sums, errors))
            net.record_epoch(sums, errors)
        train_loss = net.history[-1, "train_loss"]
        check_epoch(net, n_before + 1, train_loss, sums, errors)
        n_networks = len(net.networks)
        return EpochRecord(
            epoch=n_before + 1,
            stage=stage,
            train_loss=train_loss / n_networks,
            learning_rate=learning_rate,
            selected_fraction=sums.n_selected / (n_networks * len(rows)),
            n_skipped_batches=sums.n_skipped,
            n_valid=None if data.valid_labels is None else len(data.valid_labels),
            n_holdout=None if holdout is None else len(holdout),
            **errors,
            **measurement.fields(rows.rows, policy.acceptance),
            **policy.epoch_summary(),
            seconds=time.perf_counter() - started,
        )
