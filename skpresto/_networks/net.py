"""The skorch net: builds networks from parameters, makes batches, and predicts.

Training itself is in :mod:`skpresto._training.epoch`.
"""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import numpy as np
import torch
from skorch import NeuralNet
from skorch.utils import get_map_location, to_device
from torch import Tensor, nn

from skpresto._data.batches import (
    Announce,
    TensorBatches,
    prediction_batches,
    training_batches,
)
from skpresto._data.training_data import PredictionRows, TrainingRows
from skpresto._networks.autocast import autocast_call, autocast_network, gradient_scaler
from skpresto._networks.blocks import BlockPlan, outputs_in_blocks
from skpresto._networks.blueprint import Blueprint
from skpresto._networks.callbacks import CallbackMixin
from skpresto._networks.forward import outputs_of
from skpresto._networks.new import compile_networks, prepare_networks
from skpresto._networks.predictions import MISSING, classes_of
from skpresto._networks.probe import try_criterion, try_network, warn_of_mismatch
from skpresto._networks.stack import networks_of
from skpresto._networks.stored import with_tensors, without_tensors
from skpresto._training.measure import weighted_fraction
from skpresto._training.step import begin_momentum, unfuse_half_precision
from skpresto._training.torch_state import pause_for_predictions


class NoisyLabelNet(CallbackMixin, NeuralNet):
    """A skorch net that builds one or several networks from a blueprint."""

    #: Present while training; removed afterwards, since it holds training samples.
    blueprint_: Blueprint
    #: skorch's history of all stages.
    history_: Any
    #: How rows are predicted, determined once per pass over the rows.
    block_plan_: BlockPlan | None = None

    def __init__(self, *args: Any, autocast: str | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.autocast = autocast

    def get_default_callbacks(self) -> list:
        """Return none: the Trainer times, measures and reports."""
        return []

    @property
    def networks(self) -> list[nn.Module]:
        """The networks trained side by side."""
        return networks_of(self.module_)

    def start(self, X: Any, y: Any) -> None:
        """Build new networks, optimizer and schedules, and begin to train.

        The history goes on, so that callbacks never see an epoch number twice. The
        schedulers read from it how many epochs are behind them, and must find it empty.
        """
        before, self.history_ = self.history_, None
        self.initialize()
        self.notify("on_train_begin", X=X, y=y)
        if before is not None:
            self.history_ = before

    def initialize_module(self) -> "NoisyLabelNet":
        """Build the networks, and check that their outputs fit the classes."""
        params = self.get_params_for("module")
        blueprint = self.blueprint_
        module = blueprint.module_factory(blueprint.n_networks, **params)
        self.module_ = to_device(module, self.device).eval()
        batch = self._probe_batch()
        prepare_networks(
            self.networks,
            batch,
            blueprint.n_classes,
            must_differ=blueprint.must_differ,
        )
        if self.autocast is not None:
            for network in self.networks:
                autocast_network(network, self.autocast, self.device)
        if self.compile:
            params = self.get_params_for("compile")
            around = partial(autocast_call, name=self.autocast, device=self.device)
            compile_networks(self.networks, batch, params, around)
        return self

    def _probe_batch(self) -> Any:
        return to_device(self.blueprint_.probe_batch, self.device)

    def torch_compile(self, module: Any, name: str) -> Any:
        """Return the module unchanged: its networks are compiled one by one."""
        return module

    def initialize_criterion(self) -> "NoisyLabelNet":
        """Build the criterion, and check that it fits the module."""
        super().initialize_criterion()
        self.criterion_.float()  # as the outputs
        network, batch = self.networks[0], self._probe_batch()
        outputs = try_network(network, batch, self.blueprint_.n_classes)
        try_criterion(self.criterion_, outputs)
        if not self.initialized_:  # once per fit
            warn_of_mismatch(network, batch, outputs, self.criterion_)
        return self

    def initialize_optimizer(
        self, triggered_directly: bool | None = None
    ) -> "NoisyLabelNet":
        """Build the optimizer."""
        try:
            super().initialize_optimizer(triggered_directly)
        except Exception as error:  # of any type, from the code of the optimizer
            raise ValueError(
                f"optimizer could not be built: {type(error).__name__}: {error}. Check "
                "the optimizer and its parameters optimizer__*."
            ) from error
        if not isinstance(self.optimizer_, torch.optim.Optimizer):
            raise TypeError(
                "optimizer must be a class such as torch.optim.SGD, or a function that "
                f"returns an optimizer, got {type(self.optimizer_).__name__}."
            )
        unfuse_half_precision(self.optimizer_)
        begin_momentum(self.optimizer_)
        self.scaler_ = gradient_scaler(self.autocast, self.device)
        return self

    def is_finite(self) -> bool:
        """Return whether parameters, and outputs for the probe batch, are finite."""
        self._set_training(False)
        with torch.no_grad():
            outputs = self.infer(self._probe_batch())
        parts = [outputs, *self.module_.parameters()]
        return all(bool(torch.isfinite(part).all()) for part in parts)

    def infer(self, x: Any, **fit_params: Any) -> Tensor:
        """Return the logits of the module for features on its device."""
        return outputs_of(self.module_, x)

    def get_all_learnable_params(self) -> Iterable[tuple[str, Tensor]]:
        """Yield trained parameters under the names they have in a single network."""
        for part in (*self.networks, self.criterion_):
            yield from part.named_parameters()

    def training_batches(
        self, rows: TrainingRows, announce: Announce, epoch: int
    ) -> Iterable:
        """Return the batches of an epoch, on the device of the net."""
        params = self.get_params_for("iterator_train")
        if {"sampler", "batch_sampler"} & set(params):
            if rows.rows is not None:
                raise ValueError(
                    "A sampler given as iterator_train__sampler draws from all rows, "
                    "so it cannot be used with a stop rule that holds some of them "
                    "out, or with sample weights of 0. Choose another rule, such as "
                    "LabelWaveStop(), remove rows of weight 0, or leave the sampler "
                    "out."
                )
            batches = super().get_iterator(rows, training=True)
        else:
            params.setdefault("batch_size", self.batch_size)
            batches = training_batches(
                rows,
                params,
                device=self.device,
                announce=announce,
                generator=worker_seeds(epoch),
            )
        if isinstance(batches, TensorBatches):
            return batches
        return (to_device(tuple(batch), self.device) for batch in batches)

    @property
    def valid_collate_fn(self) -> Any:
        """The function given as ``iterator_valid__collate_fn``, or None."""
        return getattr(self, "iterator_valid__collate_fn", None)

    def get_iterator(self, dataset: Any, training: bool = False) -> Any:
        """Return rows to predict in order, as whole tensors where possible."""
        self.block_plan_ = BlockPlan.of(self.module_)
        if not isinstance(dataset, PredictionRows):
            return super().get_iterator(dataset, training=training)
        params = self.get_params_for("iterator_valid")
        params.setdefault("batch_size", self.batch_size)
        return prediction_batches(dataset, params, worker_seeds(len(self.history)))

    def evaluation_step(self, batch: Any, training: bool = False) -> Tensor:
        """Return the outputs for a batch, independent of how rows are batched.

        What the user's ``collate_fn`` returns is not cut into blocks, since rows need
        not be its first dimension, and its padding may depend on the other rows.
        """
        with torch.set_grad_enabled(training):
            if self.module_.training is not training:
                self._set_training(training)
            features = to_device(batch[0], self.device)
            if training or self.valid_collate_fn is not None:
                return self.infer(features)
            return outputs_in_blocks(self.module_, features, self.block_plan_)

    def predicted_classes(self, rows: PredictionRows) -> Tensor:
        """Return the class predicted for each row, in evaluation mode.

        It is MISSING where the network returned no finite logits.
        """
        with torch.inference_mode():
            batches = map(self.evaluation_step, self.get_iterator(rows))
            return torch.cat([classes_of(outputs) for outputs in batches])

    def _predicted_at_once(self, rows: PredictionRows) -> Tensor:
        """Return the class predicted for each row, without blocks of a fixed size.

        The same rows are measured together after each epoch, so that nothing is gained
        from predictions that are independent of the other rows.
        """
        self._set_training(False)
        with torch.inference_mode():
            batches = (to_device(X, self.device) for X, _ in self.get_iterator(rows))
            return torch.cat([classes_of(self.infer(X)) for X in batches])

    def error_on(
        self,
        rows: PredictionRows | None,
        *,
        weights: Tensor | None = None,
        notify: bool = False,
        share: Callable[[Callable, PredictionRows], Tensor],
    ) -> float | None:
        """Return the fraction of rows, by weight, predicted otherwise than labeled.

        It is nan if a row has no prediction.

        With ``notify=True``, callbacks that listen to batches see those rows as
        skorch's validation batches. ``share`` predicts rows with a function, maybe
        together with other processes.
        """
        if rows is None:
            return None
        assert rows.labels is not None
        pause_for_predictions()
        if notify and self.has_batch_callbacks:
            predicted = self.validate_with_callbacks(rows)
        else:
            predicted = share(self._predicted_at_once, rows)
        if (predicted == MISSING).any():
            return np.nan
        return weighted_fraction(predicted != rows.labels.to(predicted.device), weights)

    def predict(self, X: Any) -> np.ndarray:
        """Return class numbers, for skorch's scoring callbacks."""
        return self.predict_proba(X).argmax(axis=1)

    def forget_training(self) -> None:
        """Remove what only training needs: optimizer, schedules, gradients, samples."""
        for callback in self.lr_schedulers:
            vars(callback).pop("lr_scheduler_", None)
        for part in (self.module_, self.criterion_):
            part.zero_grad(set_to_none=True)
        self._set_training(False)
        del self.optimizer_, self.scaler_, self.blueprint_

    def __getstate__(self) -> dict[str, Any]:
        state = {k: v for k, v in vars(self).items() if k not in _ONLY_IN_TRAINING}
        return state | without_tensors({k: state[k] for k in _MODULES if k in state})

    def __setstate__(self, state: dict[str, Any]) -> None:
        device = state["device"]
        # The CPU, with skorch's warning, if there is no such device here.
        device = self._check_device(device, get_map_location(device))
        modules = with_tensors({k: state[k] for k in _MODULES if k in state})
        moved = {name: to_device(part, device) for name, part in modules.items()}
        self.__dict__.update(state | moved, device=device)


#: Attributes that hold modules, and those that are not stored.
_MODULES = ("module_", "criterion_")
_ONLY_IN_TRAINING = ("optimizer_", "scaler_", "blueprint_")


def worker_seeds(epoch: int) -> torch.Generator:
    """Return a generator for worker processes that leaves torch's own unchanged."""
    return torch.Generator().manual_seed((torch.initial_seed() + epoch) % (1 << 63))
