"""What a fit was asked for, checked."""

from dataclasses import dataclass
from typing import Any

import torch
from numpy.typing import NDArray
from torch import Tensor

from skpresto._data.training_data import TrainingData
from skpresto.stopping import StopRule


@dataclass(frozen=True)
class FitRequest:
    """What the checks of a fit have found.

    Parameters
    ----------
    data : TrainingData
        The validated samples and labels.
    classes : ndarray of shape (n_classes,)
        The class labels, sorted.
    input_shape : tuple of int, or as described for ``sample_shape`` of SampleRows
        Shape of a sample.
    device : torch.device
        Where networks and what is stored per sample live.
    rule : StopRule or None
        Chooses the stop point, if the method has one.
    pred_proba : Tensor of shape (n_samples, n_classes), or None
        Out-of-sample probabilities of the given labels, if ``fit`` was given any.
    """

    data: TrainingData
    classes: NDArray
    input_shape: Any
    device: torch.device
    rule: StopRule | None = None
    pred_proba: Tensor | None = None
