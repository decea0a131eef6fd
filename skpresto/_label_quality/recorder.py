"""What collects the outputs of networks while they are trained."""

from typing import Any, Protocol

from skpresto._data.batch import Batch


class Recorder(Protocol):
    """Sees every batch of a stage, before the policy selects from it.

    The Trainer goes back to the stop point with its prediction history. Other recorders
    keep what they have seen.
    """

    def record(self, batch: Batch) -> None:
        """Collect what the networks predict for a batch."""
        ...

    def end_epoch(self) -> None:
        """Note that all batches of an epoch have been recorded."""
        ...

    def state_dict(self) -> dict[str, Any]:
        """Return what a resumed fit needs."""
        ...

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Put back what :meth:`state_dict` returned."""
        ...
