"""The classifier that ``--model`` names."""

import argparse
import sys
from importlib import import_module
from inspect import isclass
from pathlib import Path
from typing import Any

import numpy as np

from skpresto._inner_estimators import inner_estimators
from skpresto._label_quality.weighted_fit import seeded_clone

_STORED = (".pkl", ".pickle", ".joblib", ".skops")
_WAYS = (
    "Pass a class, which is made with its default parameters, such as "
    "lightgbm.LGBMClassifier, or MODULE:NAME of a classifier, such as models:clf for "
    "clf in models.py of this folder."
)


def model_of(arguments: argparse.Namespace) -> Any:
    """Return the unfitted classifier that was asked for, with a seed, or None."""
    if arguments.model is None:
        return None
    for option in ("quick", "epochs"):
        if getattr(arguments, option):
            raise ValueError(
                f"--{option} is about the classifiers of skpresto audit, and has no "
                "meaning with --model. Leave one of them out."
            )
    rng = np.random.RandomState(arguments.seed)
    return seeded_clone(model_named(arguments.model), rng)


def model_named(name: str) -> Any:
    """Return the unfitted classifier of a name, ``module.Class`` or ``module:name``.

    Modules of the working directory are found too, after installed ones. A class is
    made with its default parameters, a function is called.
    """
    if Path(name).suffix in _STORED:
        raise ValueError(
            f"--model got the file {name}, but an audit fits the classifier itself, "
            f"and loading a pickle runs any code that is in it. {_WAYS}"
        )
    found = _imported(name)
    if isclass(found) or not hasattr(found, "fit"):
        try:
            found = found()
        except TypeError as error:
            raise ValueError(f"--model {name}: {error}. {_WAYS}") from error
    if not hasattr(found, "get_params") or not hasattr(found, "predict_proba"):
        raise ValueError(
            f"--model {name} is no classifier with fit, get_params and predict_proba. "
            f"{_WAYS}"
        )
    return found


def _imported(name: str) -> Any:
    module, separator, attribute = name.partition(":")
    if not separator:
        module, _, attribute = name.rpartition(".")
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.append(here)
    try:
        found = import_module(module) if module else None
    except ModuleNotFoundError as error:
        raise ValueError(f"--model {name}: {error}. {_WAYS}") from error
    if not hasattr(found, attribute):
        where = f"the module {module} has no {attribute}" if module else "no module"
        raise ValueError(f"--model {name}: {where}. {_WAYS}")
    return getattr(found, attribute)


def finds_wrong_labels(estimator: Any) -> bool:
    """Return whether a classifier is of this package, and assesses labels itself."""
    *_, last = inner_estimators(estimator)
    return any(base.__module__.startswith("skpresto.") for base in type(last).__mro__)
