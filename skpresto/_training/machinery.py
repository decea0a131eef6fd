"""How the batches of an epoch are computed: by this process, or by several."""

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import TypeVar

import torch
from torch import Tensor

from skpresto._data.batches import Batches
from skpresto._data.training_data import PredictionRows, TrainingRows
from skpresto._networks.net import NoisyLabelNet, Predict
from skpresto._networks.stack import NetworkStack
from skpresto._training.policy import Policy
from skpresto._training.step import Step, StepUnlessEmpty

T = TypeVar("T")


@dataclass
class Machinery:
    """What several processes do otherwise than one: here, that of an ordinary fit.

    Parameters
    ----------
    net : NoisyLabelNet
        The net.
    """

    net: NoisyLabelNet

    def batches(self, rows: TrainingRows, epoch: int) -> Batches:
        """Return the batches of an epoch, whose order is drawn."""
        return self.net.training_batches(rows, epoch)

    def step(self, policy: Policy, is_weighted: bool) -> Step:
        """Return a step that is skipped if nothing may be selected."""
        net = self.net
        if policy.needs_gradients and isinstance(net.module_, NetworkStack):
            net.module_.n_threads = 1  # which allow one backward pass only
        may_skip = policy.may_select_nothing or is_weighted
        waits = may_skip and torch.device(net.device).type != "cpu"
        # Callbacks are called for steps that are made, and for no others.
        hooks = "on_grad_computed", "on_batch_begin", "on_batch_end"
        if waits and not net.is_heard(*hooks) and StepUnlessEmpty.serves(net):
            return StepUnlessEmpty(net)
        return Step(net, may_skip)

    def randomness(self, epoch: int) -> AbstractContextManager[None]:
        """Return the context in which networks draw random numbers in an epoch."""
        return nullcontext()

    def predict(self, function: Predict, rows: PredictionRows) -> Tensor:
        """Return what a function predicts for rows."""
        return function(rows)

    def agreed(self, value: T) -> T:
        """Return the value that all processes go on with."""
        return value

    def begin_training(self) -> None:
        """Give the new networks of all processes the same weights."""

    def end_epoch(self) -> None:
        """Raise if the networks of processes differ after an epoch."""
