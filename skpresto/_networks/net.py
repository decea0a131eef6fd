"""The skorch net: builds networks from parameters, makes batches, and predicts.

Training itself is in :mod:`skpresto._training`.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import torch
from skorch import NeuralNet
from skorch.utils import to_device
from torch import Tensor, nn

from skpresto._data.batches import (
    Batches,
    LoaderBatches,
    prediction_batches,
    training_batches,
)
from skpresto._data.features import copied, map_parts, on_device
from skpresto._data.training_data import PredictionRows, TrainingRows
from skpresto._networks.callbacks import CallbackMixin, ScheduleOfTheRun
from skpresto._networks.forward import MISSING, classes_of, outputs_of
from skpresto._networks.new import (
    Blueprint,
    adapt_precision,
    compile_networks,
    divide_among_threads,
    make_different,
    new_networks,
    order_channels_last,
    prepare_optimizer,
)
from skpresto._networks.prediction_blocks import BlockPlan, outputs_in_blocks
from skpresto._networks.probe import try_criterion, try_network, warn_of_mismatch
from skpresto._networks.stack import networks_of
from skpresto._networks.stored import device_here, with_tensors, without_tensors

#: Predicts rows: one entry of the result per row.
Predict = Callable[[PredictionRows], Tensor]
#: Predicts rows with a function, maybe together with other processes.
Share = Callable[[Predict, PredictionRows], Tensor]


class NoisyLabelNet(CallbackMixin, NeuralNet):
    """A skorch net that builds one or several networks from a blueprint."""

    #: What is built; present only while networks are built.
    blueprint: Blueprint
    #: skorch's history of all stages.
    history_: Any
    criterion_: Any

    #: Whether the machine chose ``device``; one that loads the net then chooses again.
    is_auto = False

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

    def start(self, blueprint: Blueprint, X: Any, y: Any) -> None:
        """Build new networks, optimizer and schedules, and begin to train.

        The history goes on, so that callbacks never see an epoch number twice. The
        schedulers read from it how many epochs are behind them, and must find it empty.
        """
        before, self.history_ = self.history_, None
        self.blueprint = blueprint  # skorch's initialize() takes no arguments
        try:
            self.initialize()
            if blueprint.n_threads > 1:
                divide_among_threads(self.module_, blueprint, self._try_out)
            self.notify("on_train_begin", X=X, y=y)
        finally:
            del self.blueprint
        if before is not None:
            self.history_ = before

    def initialize_module(self) -> "NoisyLabelNet":
        """Build the networks, and check that their outputs fit the classes."""
        blueprint, params = self.blueprint, self.get_params_for("module")
        module = new_networks(blueprint, params)
        self.module_ = to_device(module, self.device).eval()
        for network in self.networks:
            adapt_precision(network)
            try_network(network, blueprint.probe_batch, blueprint.n_classes)
            order_channels_last(network, blueprint.probe_batch, self.autocast)
        if blueprint.must_differ:
            make_different(self.networks)
        if self.compile:
            params = self.get_params_for("compile")
            compile_networks(self.networks, params, self._try_out)
        return self

    def _try_out(self, network: nn.Module) -> Any:
        batch = self.blueprint.probe_batch
        return outputs_of(network, batch, self.autocast, self.device)

    def torch_compile(self, module: Any, name: str) -> Any:
        """Return the module unchanged: its networks are compiled one by one."""
        return module

    def initialize_criterion(self) -> "NoisyLabelNet":
        """Build the criterion, and check that it fits the module."""
        super().initialize_criterion()
        # As the outputs. skorch moves it after this method, which tries it out.
        self.criterion_ = to_device(self.criterion_.float(), self.device)
        network, batch = self.networks[0], self.blueprint.probe_batch
        outputs = try_network(network, batch, self.blueprint.n_classes)
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
        prepare_optimizer(self.optimizer_)
        # It keeps small gradients of float16 from becoming zero.
        kind = torch.device(self.device).type
        is_half = self.autocast == "float16"
        self.scaler_ = torch.amp.GradScaler(kind) if is_half else None
        return self

    def infer(self, x: Any, **fit_params: Any) -> Tensor:
        """Return the logits of the module for features on its device."""
        if not self.module_.training:
            # These may be rows of the user's own array, and modules may change them.
            x = map_parts(copied, x)
        return outputs_of(self.module_, x, self.autocast, self.device)

    def get_all_learnable_params(self) -> Iterable[tuple[str, Tensor]]:
        """Yield trained parameters under the names they have in a single network."""
        for part in (*self.networks, self.criterion_):
            yield from part.named_parameters()

    def training_params(self) -> dict[str, Any]:
        """Return the parameters of the iterator over training batches."""
        return {"batch_size": self.batch_size, **self.get_params_for("iterator_train")}

    def training_batches(self, rows: TrainingRows, epoch: int) -> Batches:
        """Return the batches of an epoch, on the device of the net."""
        params = self.training_params()
        if not {"sampler", "batch_sampler"} & set(params):
            return training_batches(rows, params, self.device, epoch)
        if rows.rows is not None:
            raise ValueError(
                "A sampler given as iterator_train__sampler draws from all rows, so it "
                "cannot be used with a stop rule that holds some of them out, or with "
                "sample weights of 0. Choose another rule, such as LabelWaveStop(), "
                "remove rows of weight 0, or leave the sampler out."
            )
        loader = super().get_iterator(rows, training=True)
        return LoaderBatches(loader, None, self.device)

    def get_iterator(self, dataset: Any, training: bool = False) -> Any:
        """Return rows to predict in order, as whole tensors where possible."""
        if not isinstance(dataset, PredictionRows):
            return super().get_iterator(dataset, training=training)
        params = self.get_params_for("iterator_valid")
        params.setdefault("batch_size", self.batch_size)
        return prediction_batches(dataset, params, len(self.history))

    def evaluated(self, dataset: Any) -> Iterator[tuple[Any, Tensor]]:
        """Yield the batches of rows with their outputs, in evaluation mode.

        Outputs do not depend on how rows are batched.
        """
        plan = BlockPlan.of(self.module_)
        for batch in plan.in_whole_blocks(self.get_iterator(dataset)):
            yield batch, self._evaluated_batch(batch, plan)

    def _evaluated_batch(self, batch: Any, plan: BlockPlan) -> Tensor:
        """Return the outputs for a batch.

        What the user's ``collate_fn`` returns is not cut into blocks, since rows need
        not be its first dimension, and its padding may depend on the other rows.
        """
        if self.module_.training:
            self._set_training(False)
        features = on_device(batch[0], self.device)
        with torch.no_grad():
            if getattr(self, "iterator_valid__collate_fn", None) is not None:
                return self.infer(features)
            return outputs_in_blocks(self.infer, features, plan)

    def evaluation_step(self, batch: Any, training: bool = False) -> Tensor:
        """Return the outputs for a batch, for skorch and its callbacks."""
        if not training:
            return self._evaluated_batch(batch, BlockPlan.of(self.module_))
        with torch.enable_grad():
            self._set_training(True)
            return self.infer(on_device(batch[0], self.device))

    def forward_iter(
        self, X: Any, training: bool = False, device: str = "cpu"
    ) -> Iterator[Tensor]:
        """Yield the outputs for batches of rows, for ``predict_proba``."""
        if training:
            yield from super().forward_iter(X, training=True, device=device)
            return
        for _, outputs in self.evaluated(self.get_dataset(X)):
            yield outputs.to(device)

    def predicted_classes(self, rows: PredictionRows) -> Tensor:
        """Return the class predicted for each row, in evaluation mode.

        It is MISSING where the network returned no finite logits.
        """
        with torch.inference_mode():
            return torch.cat([classes_of(out) for _, out in self.evaluated(rows)])

    def _predicted_at_once(self, rows: PredictionRows) -> Tensor:
        """Return the class predicted for each row, without blocks of a fixed size.

        These rows are always measured together: independent results gain nothing.
        """
        self._set_training(False)
        predicted = []
        with torch.inference_mode():
            for X, _ in self.get_iterator(rows):
                predicted.append(classes_of(self.infer(on_device(X, self.device))))
        return torch.cat(predicted)

    def disagrees(
        self, rows: PredictionRows, share: Share, *, notify: bool = False
    ) -> Tensor | None:
        """Return which rows are predicted otherwise than labeled.

        None if a row has no prediction. With ``notify=True``, callbacks see those rows
        as skorch's validation batches, and their loss is recorded.
        """
        assert rows.labels is not None
        if notify and self.has_callbacks:
            predicted = self.validate_with_callbacks(rows)
        else:
            predicted = share(self._predicted_at_once, rows)
        if (predicted == MISSING).any():
            return None
        return predicted != rows.labels.to(predicted.device)

    def predict(self, X: Any) -> np.ndarray:
        """Return class numbers, for skorch's scoring callbacks."""
        return self.predict_proba(X).argmax(axis=1)

    def forget_training(self) -> None:
        """Remove what only training needs: optimizer, schedules, gradients."""
        for callback in self.lr_schedulers:
            vars(callback).pop("lr_scheduler_", None)
        last = self.callbacks[-1]
        if isinstance(last, tuple) and isinstance(last[1], ScheduleOfTheRun):
            self.callbacks.pop()
            self.callbacks_.pop()
        for part in (self.module_, self.criterion_):
            part.zero_grad(set_to_none=True)
        self._set_training(False)
        del self.optimizer_, self.scaler_

    def __getstate__(self) -> dict[str, Any]:
        state = {k: v for k, v in vars(self).items() if k not in _ONLY_IN_TRAINING}
        return state | without_tensors({k: state[k] for k in _MODULES if k in state})

    def __setstate__(self, state: dict[str, Any]) -> None:
        modules = with_tensors({k: state[k] for k in _MODULES if k in state})
        self.__dict__.update(state | modules)
        self.move_to(device_here("auto" if self.is_auto else self.device), self.is_auto)

    def move_to(self, device: torch.device, is_auto: bool = False) -> None:
        """Let the networks live, and predict, on another device."""
        for name in set(_MODULES) & vars(self).keys():
            setattr(self, name, to_device(getattr(self, name), str(device)))
        self.device, self.is_auto = str(device), is_auto


#: Attributes that hold modules, and those that are not stored.
_MODULES = ("module_", "criterion_")
_ONLY_IN_TRAINING = ("optimizer_", "scaler_", "blueprint")
