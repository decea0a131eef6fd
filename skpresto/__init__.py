"""Train a neural network on noisy labels, and find out which labels are correct.

The classifiers are imported when first used, so that ``skpresto.noise``,
``skpresto.stopping`` and ``skpresto.metrics`` work without loading torch.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from skpresto._engine.interrupt import keep_interrupted
    from skpresto._estimators.active_bias import ActiveBiasClassifier
    from skpresto._estimators.coteaching import CoTeachingClassifier
    from skpresto._estimators.coteaching_plus import CoTeachingPlusClassifier
    from skpresto._estimators.cross_prestopping import CrossPrestoppingClassifier
    from skpresto._estimators.default import DefaultClassifier
    from skpresto._estimators.prestopping import PrestoppingClassifier
    from skpresto._estimators.prestopping_plus import PrestoppingPlusClassifier
    from skpresto._estimators.selfie import SelfieClassifier
    from skpresto._parallel.block import data_parallel
    from skpresto._resume.folder import resumable
    from skpresto._resume.status import resume_status

__version__ = "0.2.0"

__all__ = [
    "ActiveBiasClassifier",
    "CoTeachingClassifier",
    "CoTeachingPlusClassifier",
    "CrossPrestoppingClassifier",
    "DefaultClassifier",
    "PrestoppingClassifier",
    "PrestoppingPlusClassifier",
    "SelfieClassifier",
    "data_parallel",
    "keep_interrupted",
    "resumable",
    "resume_status",
]

_MODULES = {
    "ActiveBiasClassifier": "_estimators.active_bias",
    "CoTeachingClassifier": "_estimators.coteaching",
    "CoTeachingPlusClassifier": "_estimators.coteaching_plus",
    "CrossPrestoppingClassifier": "_estimators.cross_prestopping",
    "DefaultClassifier": "_estimators.default",
    "PrestoppingClassifier": "_estimators.prestopping",
    "PrestoppingPlusClassifier": "_estimators.prestopping_plus",
    "SelfieClassifier": "_estimators.selfie",
    "data_parallel": "_parallel.block",
    "keep_interrupted": "_engine.interrupt",
    "resumable": "_resume.folder",
    "resume_status": "_resume.status",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'skpresto' has no attribute {name!r}")
    return getattr(import_module(f"skpresto.{_MODULES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(set(globals()) | set(__all__))
