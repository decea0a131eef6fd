"""Methods to compare with: other ways to train on noisy labels.

The classifiers are imported when first used, one file per method, as those of
``skpresto``.
"""

from importlib import import_module
from typing import Any

#: The file of each classifier.
_FILES: dict[str, str] = {
    "D2LClassifier": "_d2l",
    "DecoupleClassifier": "_decouple",
    "ELRClassifier": "_elr",
    "ForwardCorrectionClassifier": "_forward_correction",
    "INCVClassifier": "_incv",
    "ITLMClassifier": "_itlm",
    "JoCoRClassifier": "_jocor",
    "LearningToReweightClassifier": "_learning_to_reweight",
    "MentorNetClassifier": "_mentornet",
}

__all__ = sorted(_FILES)


def __getattr__(name: str) -> Any:
    if name not in _FILES:
        raise AttributeError(f"module 'skpresto.baselines' has no attribute {name!r}")
    return getattr(import_module(f"skpresto.baselines.{_FILES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(set(globals()) | set(__all__))
