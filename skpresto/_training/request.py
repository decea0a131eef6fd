"""What a fit was asked for, checked."""

from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

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
    rule : StopRule or None
        Chooses the stop point, if the method has one.
    """

    data: TrainingData
    classes: NDArray
    input_shape: Any
    rule: StopRule | None = None
