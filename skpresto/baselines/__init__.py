"""Methods to compare with: other ways to train on noisy labels.

The classifiers are imported when first used, as those of ``skpresto``.
"""

from importlib import import_module
from typing import Any

#: The file of each classifier, in ``skpresto._methods``.
_FILES: dict[str, str] = {
    "CORESClassifier": "cores",
    "D2LClassifier": "d2l",
    "DecoupleClassifier": "decouple",
    "DivideMixClassifier": "dividemix",
    "ELRClassifier": "elr",
    "ForwardCorrectionClassifier": "forward_correction",
    "INCVClassifier": "incv",
    "ITLMClassifier": "itlm",
    "JoCoRClassifier": "jocor",
    "LearningToReweightClassifier": "learning_to_reweight",
    "MentorNetClassifier": "mentornet",
    "MorphClassifier": "morph",
    "PESClassifier": "pes",
    "SOPClassifier": "sop",
    "SSRClassifier": "ssr",
}

__all__ = sorted(_FILES)


def __getattr__(name: str) -> Any:
    if name not in _FILES:
        raise AttributeError(f"module 'skpresto.baselines' has no attribute {name!r}")
    return getattr(import_module(f"skpresto._methods.{_FILES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(set(globals()) | set(__all__))
