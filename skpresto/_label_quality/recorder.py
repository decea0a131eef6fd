"""What collects the outputs of networks while they are trained."""

from abc import ABC, abstractmethod

from skpresto._data.batch import Batch
from skpresto._data.state import Stateful


class Recorder(Stateful, ABC):
    """Sees every batch of a stage, before the policy selects from it.

    The Trainer goes back to the stop point with its prediction history. Other recorders
    keep what they have seen.
    """

    @abstractmethod
    def record(self, batch: Batch) -> None:
        """Collect what the networks predict for a batch."""

    def end_epoch(self) -> None:
        """Do what is due after all batches of an epoch."""
