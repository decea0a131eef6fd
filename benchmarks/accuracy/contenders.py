"""The methods that are compared, all with the same recipe, network and epochs.

Classifiers and losses are named here and imported when a cell is run, so that a method
that is not installed does not affect the others.
"""

from collections.abc import Callable
from pkgutil import resolve_name
from typing import Any, NamedTuple

import numpy as np
from cells import Cell
from data import Split

from skpresto.stopping import (
    MemorizedFractionStop,
    NoiseRateStop,
    OracleStop,
    ValidationStop,
)

DEFAULT = "Default"
CLEAN_LEARNING = "CleanLearning"
#: Plain training on the rows whose label is correct, as a reference.
CLEAN_SUBSET = "clean subset"
DEFAULT_RULE = "default rule"
PRESTOPPING = "Prestopping"
#: As by default, without an assessor.
CROSS_PRESTOPPING = "CrossPrestopping"
#: With trees as assessor, and the cheaper settings of docs/choosing.md.
CROSS_TREES = "CrossPrestopping with trees"
CROSS_THREE, CROSS_CHEAP = f"{CROSS_TREES}, 3 fits", f"{CROSS_TREES}, 1.5 fits"
PRESTOPPING_PLUS = "Prestopping+"
#: Added to the name of a method that estimates the noise rate.
ESTIMATED = ", estimated rate"

#: Stop rules, as functions of the true noise rate. The default rule does not use it.
RULES: dict[str, Callable[[float], Any]] = {
    DEFAULT_RULE: lambda rate: None,
    "validation": lambda rate: ValidationStop(),
    "noise rate": NoiseRateStop,
    "memorized fraction": MemorizedFractionStop,
    "oracle": lambda rate: OracleStop(),
}


class Method(NamedTuple):
    """A method of the comparison.

    Parameters
    ----------
    classifier : str
        Where the classifier is found, as ``module:class``.
    cost : float
        Approximate time of a fit in fits of Default, for the progress bar and for
        methods whose cost was not measured.
    takes_rate, takes_rule, takes_clean_rows : bool
        Whether it is given the true noise rate, a stop rule, clean validation rows.
    criterion : str or None
        Where its loss is found; None is cross-entropy.
    params : dict
        Parameters with another value than their default.
    n_members : int
        Number of fits with different seeds whose predicted probabilities are averaged.
    shares_rate : bool
        Whether the noise rate estimated by the first of these fits is given to the
        others.
    is_cleaned : bool
        Whether the classifier is wrapped in cleanlab's CleanLearning.
    is_network : bool
        False for trees, which have neither epochs nor a module.
    has_curve : bool
        Whether the test error of every epoch is recorded, which takes time.
    """

    classifier: str
    cost: float
    takes_rate: bool = False
    takes_rule: bool = False
    takes_clean_rows: bool = False
    criterion: str | None = None
    params: dict[str, Any] = {}
    n_members: int = 1
    shares_rate: bool = False
    is_cleaned: bool = False
    is_network: bool = True
    has_curve: bool = True

    @property
    def is_available(self) -> bool:
        """Whether everything that the method needs can be imported."""
        needed = ["cleanlab.classification:CleanLearning"] if self.is_cleaned else []
        try:
            for name in (self.classifier, self.criterion, *needed):
                if name is not None:
                    resolve_name(name)
        except (ImportError, AttributeError):
            return False
        return True

    @property
    def is_given(self) -> str:
        """What the method is given besides the noisy data, in words; often nothing."""
        names = {"noise rate": self.takes_rate, "clean rows": self.takes_clean_rows}
        return ", ".join(name for name, is_given in names.items() if is_given)


def _robust_loss(name: str) -> Method:
    return Method(
        "skpresto:DefaultClassifier", 1.0, criterion=f"skpresto.losses:{name}"
    )


def _baseline(name: str, cost: float, **kwargs: Any) -> Method:
    return Method(f"skpresto.baselines:{name}", cost, **kwargs)


_CO_TEACHING = "skpresto:CoTeachingClassifier"
_CO_TEACHING_PLUS = "skpresto:CoTeachingPlusClassifier"
_PRESTOPPING = "skpresto:PrestoppingClassifier"
_CROSS = "skpresto:CrossPrestoppingClassifier"
_THREE = {"cv": 3, "q": 5, "n_final_networks": 1, "assessor": "auto"}
_CHEAP = {
    "assessor": "auto",
    "cv": 2,
    "fold_epochs": 0.3,
    "q": 3,
    "n_final_networks": 1,
    "final_epochs": 0.7,
    "fold_weight": 0.0,
}
_SELFIE = "skpresto:SelfieClassifier"
_BOOSTING = "sklearn.ensemble:HistGradientBoostingClassifier"
# Without restarts, SELFIE trains for as many epochs as the others.
_ONE_RUN = {"restarts": 0}
# By default, few rows are boosted without early stopping.
_EARLY_STOPPING = {"early_stopping": True}

METHODS: dict[str, Method] = {
    # About one fit.
    DEFAULT: Method("skpresto:DefaultClassifier", 1.0),
    CLEAN_SUBSET: Method("skpresto:DefaultClassifier", 0.7),
    "Active Bias": Method("skpresto:ActiveBiasClassifier", 1.1),
    PRESTOPPING: Method(_PRESTOPPING, 1.3, takes_rule=True),
    "GCE": _robust_loss("GCELoss"),
    "SCE": _robust_loss("SCELoss"),
    "Bootstrap": _robust_loss("BootstrapLoss"),
    "ELR": _baseline("ELRClassifier", 1.1),
    "MentorNet": _baseline("MentorNetClassifier", 1.1),
    "D2L": _baseline("D2LClassifier", 1.2),
    "CORES": _baseline("CORESClassifier", 1.1),
    "GJS": _robust_loss("GJSLoss"),
    "MORPH": _baseline("MorphClassifier", 1.2),
    "PES": _baseline("PESClassifier", 1.3),
    CROSS_CHEAP: Method(_CROSS, 1.6, params=_CHEAP, has_curve=False),
    # Two to three and a half fits.
    CROSS_THREE: Method(_CROSS, 3.0, params=_THREE, has_curve=False),
    "Co-teaching": Method(_CO_TEACHING, 2.0, takes_rate=True),
    f"Co-teaching{ESTIMATED}": Method(_CO_TEACHING, 3.2),
    "JoCoR": _baseline("JoCoRClassifier", 2.1, takes_rate=True),
    f"JoCoR{ESTIMATED}": _baseline("JoCoRClassifier", 3.3),
    "SELFIE": Method(_SELFIE, 1.2, takes_rate=True, params=_ONE_RUN),
    f"SELFIE{ESTIMATED}": Method(_SELFIE, 2.4, params=_ONE_RUN),
    "Co-teaching+": Method(_CO_TEACHING_PLUS, 2.0, takes_rate=True),
    f"Co-teaching+{ESTIMATED}": Method(_CO_TEACHING_PLUS, 3.2),
    PRESTOPPING_PLUS: Method(
        "skpresto:PrestoppingPlusClassifier", 2.3, takes_rule=True
    ),
    "Decouple": _baseline("DecoupleClassifier", 2.0),
    "Forward correction": _baseline("ForwardCorrectionClassifier", 2.0),
    "Learning to reweight": _baseline(
        "LearningToReweightClassifier", 3.0, takes_clean_rows=True
    ),
    # Five to eight fits.
    CROSS_TREES: Method(_CROSS, 5.2, params={"assessor": "auto"}, has_curve=False),
    CROSS_PRESTOPPING: Method(_CROSS, 5.0, takes_rule=True, params={"assessor": None}),
    CLEAN_LEARNING: Method("skpresto:DefaultClassifier", 5.5, is_cleaned=True),
    "CleanLearning of Prestopping": Method(
        _PRESTOPPING, 7.0, takes_rule=True, is_cleaned=True
    ),
    "INCV": _baseline("INCVClassifier", 6.0),
    "ITLM": _baseline("ITLMClassifier", 8.0),
    "seven Default": Method("skpresto:DefaultClassifier", 7.0, n_members=7),
    "four Co-teaching": Method(_CO_TEACHING, 8.0, takes_rate=True, n_members=4),
    f"three Co-teaching{ESTIMATED}": Method(
        _CO_TEACHING, 7.2, n_members=3, shares_rate=True
    ),
    "four Prestopping": Method(_PRESTOPPING, 5.2, takes_rule=True, n_members=4),
    # Successors of these methods, run by the preset of that name.
    "SOP": _baseline("SOPClassifier", 1.3),
    "SSR": _baseline("SSRClassifier", 6.0),
    "DivideMix": _baseline("DivideMixClassifier", 4.0),
    # Trees, for tables only.
    "RandomForest": Method(
        "sklearn.ensemble:RandomForestClassifier", 0.5, is_network=False
    ),
    "ExtraTrees": Method(
        "sklearn.ensemble:ExtraTreesClassifier", 0.5, is_network=False
    ),
    "HistGradientBoosting": Method(
        _BOOSTING, 2.0, params=_EARLY_STOPPING, is_network=False
    ),
    "CleanLearning of HistGradientBoosting": Method(
        _BOOSTING, 11.0, params=_EARLY_STOPPING, is_network=False, is_cleaned=True
    ),
}


def long_name(method: str) -> str:
    """Return the name of a method, with what it is given."""
    given = METHODS[method].is_given
    return f"{method} (given {given})" if given else method


def training_rows(cell: Cell, split: Split) -> np.ndarray:
    """Return the positions of the rows that the method is trained on."""
    if cell.method == CLEAN_SUBSET:
        return np.flatnonzero(split.y == split.y_true)
    return np.arange(len(split.y))


def supervision(cell: Cell, split: Split) -> dict[str, np.ndarray | None]:
    """Return what the stop rule or the method needs in ``fit`` besides noisy data."""
    if cell.rule == "validation" or METHODS[cell.method].takes_clean_rows:
        return {"X_val": split.X_val, "y_val": split.y_val}
    if cell.rule == "oracle":
        return {"y_true": split.y_true}
    return {}
