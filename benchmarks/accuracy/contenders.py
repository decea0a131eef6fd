"""The methods that are compared, with the same network, recipe and epochs for all."""

from collections.abc import Callable
from typing import Any

import numpy as np
from cells import Cell, Setting
from data import Split
from torch import nn

from skpresto import (
    ActiveBiasClassifier,
    CoTeachingClassifier,
    CoTeachingPlusClassifier,
    DefaultClassifier,
    PrestoppingClassifier,
    PrestoppingPlusClassifier,
    SelfieClassifier,
    modules,
)
from skpresto.stopping import (
    MemorizedFractionStop,
    NoiseRateStop,
    OracleStop,
    ValidationStop,
)

CLEAN_LEARNING = "CleanLearning"
#: Plain training on the rows whose label is right: what no method can expect to beat.
CLEAN_SUBSET = "clean subset"
DEFAULT_RULE = "default rule"
#: Prestopping+ to the letter of the paper: one network judges its own labels.
AS_PUBLISHED = "Prestopping+ as published"

#: Stop rules, given the true noise rate. The default rule is told nothing.
RULES: dict[str, Callable[[float], Any]] = {
    DEFAULT_RULE: lambda rate: None,
    "validation": lambda rate: ValidationStop(),
    "noise rate": NoiseRateStop,
    "memorized fraction": MemorizedFractionStop,
    "oracle": lambda rate: OracleStop(),
}


def small_cnn_on_halved_images(
    input_shape: tuple[int, int, int], n_classes: int
) -> nn.Module:
    """Return half the channels on half the pixels a side: a 15th of the work."""
    channels, height, width = input_shape
    halved = (channels, height // 2, width // 2)
    return nn.Sequential(
        nn.AvgPool2d(2), modules.SmallCNN(halved, n_classes, widths=(16, 32, 64))
    )


#: Networks that a setting may name.
NETWORKS: dict[str, Callable[..., Any]] = {
    "DenseNet": modules.DenseNet,
    "VGG19": modules.VGG19,
    "SmallCNN on halved images": small_cnn_on_halved_images,
}

#: name: (class, cost of a fit in fits of plain training, what it is told)
METHODS: dict[str, tuple[type, float, tuple[str, ...]]] = {
    "Default": (DefaultClassifier, 1.0, ()),
    CLEAN_SUBSET: (DefaultClassifier, 0.7, ()),
    "Active Bias": (ActiveBiasClassifier, 1.1, ()),
    "Co-teaching": (CoTeachingClassifier, 2.0, ("rate",)),
    "Co-teaching+": (CoTeachingPlusClassifier, 2.0, ("rate",)),
    "SELFIE": (SelfieClassifier, 1.2, ("rate", "one run")),
    "Prestopping": (PrestoppingClassifier, 1.3, ("rule",)),
    "Prestopping+": (PrestoppingPlusClassifier, 8.0, ("rule",)),
    CLEAN_LEARNING: (DefaultClassifier, 5.0, ()),
    AS_PUBLISHED: (PrestoppingPlusClassifier, 2.3, ("rule", "alone")),
}


def classifier_of(
    cell: Cell, setting: Setting, noise_rate: float, callbacks: list
) -> Any:
    """Return the classifier of a cell, not fitted."""
    kind, _, told = METHODS[cell.method]
    params: dict[str, Any] = {
        "module": setting.module and NETWORKS[setting.module],
        "max_epochs": setting.epochs,
        "device": setting.device,
        "optimizer__weight_decay": 5e-4,
        "random_state": cell.seed,
        "callbacks": callbacks,
    }
    if cell.q is not None:
        params["q"] = cell.q
    if "rate" in told:
        params["noise_rate"] = noise_rate
    if "one run" in told:  # as many epochs as the others
        params["restarts"] = 0
    if "rule" in told:
        params["stop"] = RULES[cell.rule or DEFAULT_RULE](noise_rate)
    if "alone" in told:
        params["folds"] = None
    classifier = kind(**params)
    return (
        _cleaned(classifier, cell.seed) if cell.method == CLEAN_LEARNING else classifier
    )


def _cleaned(classifier: Any, seed: int) -> Any:
    """Return cleanlab's way to train a classifier on noisy labels."""
    from cleanlab.classification import CleanLearning  # only this contender needs it

    return CleanLearning(
        classifier,
        cv_n_folds=5,
        seed=seed,
        find_label_issues_kwargs={"n_jobs": 1},  # cells run side by side already
    )


def training_rows(cell: Cell, split: Split) -> np.ndarray:
    """Return the positions of the rows that the method may see."""
    if cell.method == CLEAN_SUBSET:
        return np.flatnonzero(split.y == split.y_true)
    return np.arange(len(split.y))


def supervision(cell: Cell, split: Split) -> dict[str, np.ndarray | None]:
    """Return what ``fit`` is given besides the noisy data: only what a rule needs."""
    if cell.rule == "validation":
        return {"X_val": split.X_val, "y_val": split.y_val}
    if cell.rule == "oracle":
        return {"y_true": split.y_true}
    return {}


def network_of(fitted: Any) -> Any:
    """Return the classifier that predicts, which cleanlab wraps."""
    return getattr(fitted, "clf", fitted)


def safe_mask_of(cell: Cell, fitted: Any) -> np.ndarray | None:
    """Return which training labels the method trusts."""
    if cell.method == CLEAN_SUBSET:
        return None
    if cell.method == CLEAN_LEARNING:
        return ~fitted.get_label_issues()["is_label_issue"].to_numpy()
    return fitted.safe_mask_
