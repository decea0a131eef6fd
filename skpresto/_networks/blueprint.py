"""What is needed to build the networks of a fit."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from torch import nn


@dataclass(frozen=True)
class Blueprint:
    """What is needed to build the networks of a fit.

    Parameters
    ----------
    module_factory : callable
        Makes one module, or several side by side: ``module_factory(n_networks,
        **module_params)``.
    is_pretrained : bool
        Whether networks start from the weights of an instance given by the user.
    probe_batch : Tensor, or dict or tuple of tensors
        Two training samples, with which a new module is tried out.
    n_classes : int
        Number of classes.
    max_epochs : int
        Number of epochs of a run, unless it is given when the run starts.
    n_epochs : int, default=None
        Number of epochs of the present run.
    n_networks : int, default=1
        Number of networks trained side by side.
    must_differ : bool, default=False
        Whether networks need different initial weights.
    """

    module_factory: Callable[..., nn.Module]
    is_pretrained: bool
    probe_batch: Any
    n_classes: int
    max_epochs: int
    n_epochs: int | None = None
    n_networks: int = 1
    must_differ: bool = False
