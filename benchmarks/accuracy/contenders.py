"""The methods that are compared, all with the same network, recipe and epochs."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from cells import Cell, Setting
from data import Split
from torch import nn

from skpresto import (
    ActiveBiasClassifier,
    CoTeachingClassifier,
    CoTeachingPlusClassifier,
    CrossPrestoppingClassifier,
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
#: Plain training on the rows whose label is correct, as a reference.
CLEAN_SUBSET = "clean subset"
DEFAULT_RULE = "default rule"
CROSS_PRESTOPPING = "CrossPrestopping"
PRESTOPPING_PLUS = "Prestopping+"

#: Stop rules, as functions of the true noise rate. The default rule does not use it.
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
    """Return a SmallCNN of half the channels for images of half the side length."""
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


class Method(NamedTuple):
    """A method of the comparison.

    ``cost`` is the approximate time of a fit in fits of Default, for the progress bar.
    ``takes_rate`` methods are given the true noise rate, ``takes_rule`` methods a stop
    rule; ``params`` are parameters with another value than their default.
    """

    classifier: type
    cost: float
    takes_rate: bool = False
    takes_rule: bool = False
    params: dict[str, Any] = {}


METHODS: dict[str, Method] = {
    "Default": Method(DefaultClassifier, 1.0),
    CLEAN_SUBSET: Method(DefaultClassifier, 0.7),
    "Active Bias": Method(ActiveBiasClassifier, 1.1),
    "Co-teaching": Method(CoTeachingClassifier, 2.0, takes_rate=True),
    "Co-teaching+": Method(CoTeachingPlusClassifier, 2.0, takes_rate=True),
    # Without restarts, SELFIE trains for as many epochs as the others.
    "SELFIE": Method(SelfieClassifier, 1.2, takes_rate=True, params={"restarts": 0}),
    "Prestopping": Method(PrestoppingClassifier, 1.3, takes_rule=True),
    PRESTOPPING_PLUS: Method(PrestoppingPlusClassifier, 2.3, takes_rule=True),
    CROSS_PRESTOPPING: Method(CrossPrestoppingClassifier, 8.0, takes_rule=True),
    CLEAN_LEARNING: Method(DefaultClassifier, 5.0),
}


def classifier_of(
    cell: Cell, setting: Setting, noise_rate: float, callbacks: list
) -> Any:
    """Return the unfitted classifier of a cell."""
    method = METHODS[cell.method]
    params: dict[str, Any] = {
        "module": setting.module and NETWORKS[setting.module],
        "max_epochs": setting.epochs,
        "device": setting.device,
        "optimizer__weight_decay": 5e-4,
        "random_state": cell.seed,
        "callbacks": callbacks,
        **method.params,
    }
    if cell.q is not None:
        params["q"] = cell.q
    if method.takes_rate:
        params["noise_rate"] = noise_rate
    if method.takes_rule:
        params["stop"] = RULES[cell.rule or DEFAULT_RULE](noise_rate)
    classifier = method.classifier(**params)
    if cell.method == CLEAN_LEARNING:
        return _clean_learning(classifier, cell.seed)
    return classifier


def _clean_learning(classifier: Any, seed: int) -> Any:
    """Return the classifier wrapped in cleanlab's CleanLearning."""
    from cleanlab.classification import CleanLearning  # only this method needs it

    return CleanLearning(
        classifier,
        cv_n_folds=5,
        seed=seed,
        find_label_issues_kwargs={"n_jobs": 1},  # cells already run in parallel
    )


def training_rows(cell: Cell, split: Split) -> np.ndarray:
    """Return the positions of the rows that the method is trained on."""
    if cell.method == CLEAN_SUBSET:
        return np.flatnonzero(split.y == split.y_true)
    return np.arange(len(split.y))


def supervision(cell: Cell, split: Split) -> dict[str, np.ndarray | None]:
    """Return what the stop rule needs in ``fit`` besides the noisy data."""
    if cell.rule == "validation":
        return {"X_val": split.X_val, "y_val": split.y_val}
    if cell.rule == "oracle":
        return {"y_true": split.y_true}
    return {}


def network_of(fitted: Any) -> Any:
    """Return the classifier itself, also if it is wrapped by cleanlab."""
    return getattr(fitted, "clf", fitted)


def safe_mask_of(cell: Cell, fitted: Any) -> np.ndarray | None:
    """Return which training labels the method accepts as correct."""
    if cell.method == CLEAN_SUBSET:
        return None
    if cell.method == CLEAN_LEARNING:
        return ~fitted.get_label_issues()["is_label_issue"].to_numpy()
    return fitted.safe_mask_
