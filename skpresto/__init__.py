"""Train a neural network on noisy labels, and learn which labels to trust.

The classifiers are imported when they are first asked for, so that
``skpresto.noise``, ``skpresto.stopping`` and ``skpresto.metrics`` work without
loading torch.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from skpresto._active_bias import ActiveBiasClassifier
    from skpresto._coteaching import CoTeachingClassifier
    from skpresto._coteaching_plus import CoTeachingPlusClassifier
    from skpresto._default import DefaultClassifier
    from skpresto._prestopping import PrestoppingClassifier
    from skpresto._prestopping_plus import PrestoppingPlusClassifier
    from skpresto._selfie import SelfieClassifier

__version__ = "0.1.0"

__all__ = [
    "ActiveBiasClassifier",
    "CoTeachingClassifier",
    "CoTeachingPlusClassifier",
    "DefaultClassifier",
    "PrestoppingClassifier",
    "PrestoppingPlusClassifier",
    "SelfieClassifier",
]

_HOME_OF = {
    "ActiveBiasClassifier": "skpresto._active_bias",
    "CoTeachingClassifier": "skpresto._coteaching",
    "CoTeachingPlusClassifier": "skpresto._coteaching_plus",
    "DefaultClassifier": "skpresto._default",
    "PrestoppingClassifier": "skpresto._prestopping",
    "PrestoppingPlusClassifier": "skpresto._prestopping_plus",
    "SelfieClassifier": "skpresto._selfie",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'skpresto' has no attribute {name!r}")
    return getattr(import_module(_HOME_OF[name]), name)


def __dir__() -> list[str]:
    return sorted(set(globals()) | set(__all__))
