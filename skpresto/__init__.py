"""Train a neural network on noisy labels, and find out which labels are correct.

The classifiers are imported when first used, so that ``skpresto.noise``,
``skpresto.stopping`` and ``skpresto.metrics`` work without loading torch.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from skpresto._cleaning.classifier import LabelCleaningClassifier
    from skpresto._methods.active_bias import ActiveBiasClassifier
    from skpresto._methods.coteaching import CoTeachingClassifier
    from skpresto._methods.coteaching_plus import CoTeachingPlusClassifier
    from skpresto._methods.cross_prestopping import CrossPrestoppingClassifier
    from skpresto._methods.default import DefaultClassifier
    from skpresto._methods.prestopping import PrestoppingClassifier
    from skpresto._methods.prestopping_plus import PrestoppingPlusClassifier
    from skpresto._methods.selfie import SelfieClassifier
    from skpresto._parallel.block import data_parallel
    from skpresto._resume.folder import resumable
    from skpresto._resume.status import resume_status
    from skpresto._training.context import keep_interrupted

__version__ = "0.2.0"

__all__ = [
    "ActiveBiasClassifier",
    "CoTeachingClassifier",
    "CoTeachingPlusClassifier",
    "CrossPrestoppingClassifier",
    "DefaultClassifier",
    "LabelCleaningClassifier",
    "PrestoppingClassifier",
    "PrestoppingPlusClassifier",
    "SelfieClassifier",
    "data_parallel",
    "keep_interrupted",
    "resumable",
    "resume_status",
]

_MODULES = {
    "ActiveBiasClassifier": "_methods.active_bias",
    "CoTeachingClassifier": "_methods.coteaching",
    "CoTeachingPlusClassifier": "_methods.coteaching_plus",
    "CrossPrestoppingClassifier": "_methods.cross_prestopping",
    "DefaultClassifier": "_methods.default",
    "LabelCleaningClassifier": "_cleaning.classifier",
    "PrestoppingClassifier": "_methods.prestopping",
    "PrestoppingPlusClassifier": "_methods.prestopping_plus",
    "SelfieClassifier": "_methods.selfie",
    "data_parallel": "_parallel.block",
    "keep_interrupted": "_training.context",
    "resumable": "_resume.folder",
    "resume_status": "_resume.status",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'skpresto' has no attribute {name!r}")
    from skpresto._packages import needed_by

    with needed_by(name):
        return getattr(import_module(f"skpresto.{_MODULES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(set(globals()) | set(__all__))
