"""Train a neural network on noisy labels, and learn which labels to trust.

The classifiers are imported when they are first asked for, so that
``skpresto.noise``, ``skpresto.stopping`` and ``skpresto.metrics`` work without
loading torch.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from skpresto._default import DefaultClassifier
    from skpresto._prestopping import PrestoppingClassifier

__version__ = "0.1.0"

__all__ = ["DefaultClassifier", "PrestoppingClassifier"]

_HOME_OF = {
    "DefaultClassifier": "skpresto._default",
    "PrestoppingClassifier": "skpresto._prestopping",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'skpresto' has no attribute {name!r}")
    return getattr(import_module(_HOME_OF[name]), name)


def __dir__() -> list[str]:
    return sorted(set(globals()) | set(__all__))
