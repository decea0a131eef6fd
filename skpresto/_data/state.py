"""State that training changes, declared by name as in torch."""

from typing import Any

import numpy as np
from torch import Tensor


class Stateful:
    """An object that declares which of its attributes training changes.

    They are named in ``_state``: tensors, numbers, None, lists of these, or objects of
    this kind. A resumed fit gets back what they return, and nothing else.
    """

    _state: tuple[str, ...] = ()

    def state_dict(self) -> dict[str, Any]:
        """Return the present values; tensors are not copied."""
        return {name: _value(getattr(self, name)) for name in self._state}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Put values back; tensors in place, since other objects may refer to them."""
        for name, value in state.items():
            present = getattr(self, name)
            if isinstance(present, Stateful):
                present.load_state_dict(value)
            elif isinstance(present, Tensor) and isinstance(value, Tensor):
                present.copy_(value)
            else:
                setattr(self, name, value)


def _value(part: Any) -> Any:
    if isinstance(part, Stateful):
        return part.state_dict()
    # Files of tensors have no numbers of numpy.
    return part.item() if isinstance(part, np.generic) else part
