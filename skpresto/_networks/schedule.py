"""The built-in schedule of the learning rate."""

import math
from typing import Any

import torch

from skpresto._networks.callbacks import LRScheduler


class ScheduleOfTheRun(LRScheduler):
    """Lower the learning rate to a fifth after one half and three quarters of a run.

    This is the schedule of the paper. Networks that are trained for fewer epochs than
    ``max_epochs``, such as the fold networks of CrossPrestopping, have a schedule of
    that length.
    """

    def __init__(self) -> None:
        super().__init__(
            torch.optim.lr_scheduler.MultiStepLR, gamma=0.2, event_name=None
        )

    def _get_scheduler(self, net: Any, policy: Any, **params: Any) -> Any:
        n_epochs = net.blueprint_.n_epochs
        params["milestones"] = [math.ceil(part * n_epochs) for part in (0.5, 0.75)]
        return super()._get_scheduler(net, policy, **params)
