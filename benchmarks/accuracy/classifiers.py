"""The classifier of a cell, and what it says about its training labels."""

from collections.abc import Callable
from pkgutil import resolve_name
from typing import Any

import numpy as np
from cells import Cell, Setting
from contenders import CLEAN_SUBSET, DEFAULT_RULE, METHODS, RULES, Method
from out_of_fold import OutOfFoldCleaning
from several_fits import SeveralFits
from torch import nn

from skpresto import modules


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


def classifier_of(
    cell: Cell, setting: Setting, noise_rate: float, callbacks: list
) -> Any:
    """Return the unfitted classifier of a cell.

    The callbacks are not called for ensembles, trees and methods without a curve.
    """
    method = METHODS[cell.method]
    params = {"random_state": cell.seed, **method.params}
    if method.is_network:
        is_watched = method.has_curve and method.n_members == 1
        callbacks = callbacks if is_watched else []
        params = {**_recipe(setting, callbacks), **params}
    if cell.q is not None:
        params["q"] = cell.q
    if method.takes_rate:
        params["noise_rate"] = noise_rate
    if method.takes_rule:
        params["stop"] = RULES[cell.rule or DEFAULT_RULE](noise_rate)
    if method.criterion is not None:
        params["criterion"] = resolve_name(method.criterion)
    return _wrapped(resolve_name(method.classifier)(**params), method, cell.seed)


def _recipe(setting: Setting, callbacks: list) -> dict[str, Any]:
    """Return the parameters that all networks share."""
    return {
        "module": setting.module and NETWORKS[setting.module],
        "max_epochs": setting.epochs,
        "device": setting.device,
        "optimizer__weight_decay": 5e-4,
        "callbacks": callbacks,
    }


def _wrapped(classifier: Any, method: Method, seed: int) -> Any:
    if method.is_cleaned:
        return OutOfFoldCleaning(classifier, seed)
    if method.n_members > 1:
        return SeveralFits(classifier, method.n_members, seed, method.shares_rate)
    return classifier


def network_of(fitted: Any) -> Any:
    """Return the fitted classifier with a history of epochs; None if there is none."""
    inner = fitted.classifier_ if isinstance(fitted, OutOfFoldCleaning) else fitted
    return inner if hasattr(inner, "history_") else None


def safe_mask_of(cell: Cell, fitted: Any) -> np.ndarray | None:
    """Return which training labels the method accepts as correct, if it says so."""
    if cell.method == CLEAN_SUBSET:
        return None
    return getattr(fitted, "safe_mask_", None)


def label_quality_of(cell: Cell, fitted: Any) -> np.ndarray | None:
    """Return the quality of each training label, if the method has one."""
    if cell.method == CLEAN_SUBSET:
        return None
    return getattr(fitted, "label_quality_", None)
