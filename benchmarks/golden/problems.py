"""Small seeded problems, each with the classifiers that are fitted to it."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from fits import Watch, fit_again, fit_once, interrupted, killed, with_trajectories
from modules import MeanWord, Plain, TwoInputs, UserModule, Words, pad, pretrained
from scipy import sparse
from sklearn.datasets import load_digits, make_classification
from skorch.callbacks import EpochScoring, LRScheduler
from torch.optim.lr_scheduler import CosineAnnealingLR, ReduceLROnPlateau
from torch.utils.data import RandomSampler, TensorDataset

import skpresto
from skpresto import baselines, losses, stopping

SETTINGS = {"max_epochs": 10, "batch_size": 32, "random_state": 0}

#: All classifiers, and settings of their own.
CLASSIFIERS: dict[str, dict[str, Any]] = {
    "Default": {},
    "ActiveBias": {},
    "CoTeaching": {"noise_rate": 0.3},
    "CoTeachingPlus": {"noise_rate": 0.3},
    "Selfie": {"noise_rate": 0.3, "q": 4, "restarts": 1},
    "Prestopping": {},
    "PrestoppingPlus": {"q": 4},
    "CrossPrestopping": {"cv": 3},
    "D2L": {"warm_up": 0.3, "window": 2},
    "Decouple": {"warm_up": 0.3},
    "ELR": {},
    "ForwardCorrection": {},
    "INCV": {"rounds": 2},
    "ITLM": {"noise_rate": 0.3, "rounds": 2},
    "JoCoR": {"noise_rate": 0.3},
    "LearningToReweight": {"lr": 0.03},
    "MentorNet": {"percentile": 80},
}
ALL = " ".join(CLASSIFIERS)
#: Those that together run through all of the training engine.
ENGINE = (
    "Default Prestopping PrestoppingPlus CoTeachingPlus CrossPrestopping Selfie ELR "
    "LearningToReweight D2L INCV ITLM"
)
PHASES = "Prestopping PrestoppingPlus CrossPrestopping"
FEW = f"{PHASES} CoTeachingPlus LearningToReweight"
ESTIMATING = "CoTeaching CoTeachingPlus Selfie ITLM INCV"


@dataclass
class Problem:
    """Samples, parameters, and a way to fit.

    Parameters
    ----------
    name : str
        What it is about.
    classifiers : str
        Their names without the ending, separated by spaces.
    X, y : array-like
        Samples and noisy labels.
    clean : dict
        ``X_val`` and ``y_val``, given to classifiers that cannot do without.
    params : dict
        Parameters of all classifiers.
    given : dict
        Further arguments of ``fit``.
    fit : callable
        One of ``fits.py``.
    """

    name: str
    classifiers: str
    X: Any
    y: Any
    clean: dict[str, Any]
    params: dict[str, Any] = field(default_factory=dict)
    given: dict[str, Any] = field(default_factory=dict)
    fit: Callable[..., Any] = fit_once
    in_processes: bool = False

    def unfitted(self, name: str) -> Any:
        """Return a classifier with all parameters."""
        home = skpresto if hasattr(skpresto, f"{name}Classifier") else baselines
        settings = {**SETTINGS, **CLASSIFIERS[name], **self.params}
        return getattr(home, f"{name}Classifier")(**settings)

    def arguments(self, name: str) -> dict[str, Any]:
        """Return the arguments of ``fit``."""
        clean = self.clean if name == "LearningToReweight" else {}
        return {"X": self.X, "y": self.y, **clean, **self.given}


def noisy(y: np.ndarray, rate: float = 0.3) -> np.ndarray:
    is_wrong = np.random.RandomState(1).uniform(size=len(y)) < rate
    return np.where(is_wrong, (y + 1) % (y.max() + 1), y)


class Digits:
    """Digits with noisy labels, and clean ones for validation."""

    def __init__(self, n_samples: int = 300, as_images: bool = False) -> None:
        X, y = load_digits(return_X_y=True)
        X = (X / 16).astype(np.float32)
        X = X.reshape(-1, 1, 8, 8) if as_images else X
        self.X, self.true = X[:n_samples], y[:n_samples]
        self.y = noisy(self.true)
        later = slice(n_samples, n_samples + 80)
        self.clean = {"X_val": X[later], "y_val": y[later]}

    def problem(self, name: str, classifiers: str, **further: Any) -> Problem:
        """Return a problem with these samples, unless others are given."""
        data = {"X": self.X, "y": self.y, "clean": self.clean}
        return Problem(name, classifiers, **{**data, **further})


def problems(folder: Path) -> Iterator[Problem]:
    """Yield all problems; files are written to the folder."""
    table = Digits()
    yield table.problem("table", ALL)
    two, labels = make_classification(300, 12, n_informative=6, random_state=0)
    two, clean = two.astype(np.float32), {"X_val": two[:60], "y_val": labels[:60]}
    yield Problem("two classes", ALL, two, noisy(labels, 0.2), clean)
    yield from _inputs(table, folder)
    yield from _arguments_of_fit(table)
    yield from _parameters(table)
    yield from _ways_to_fit(table)


def _inputs(table: Digits, folder: Path) -> Iterator[Problem]:
    X, clean = table.X, table.clean
    mapped = np.memmap(folder / "X.dat", np.float32, "w+", shape=X.shape)
    mapped[:] = X
    yield table.problem("memory map", FEW, X=mapped)
    rows = sparse.csr_matrix(X)
    yield table.problem("sparse", FEW, X=rows)
    parts = {"left": X[:, :30], "right": X[:, 30:]}
    val = {"left": clean["X_val"][:, :30], "right": clean["X_val"][:, 30:]}
    both = {"X": parts, "clean": {**clean, "X_val": val}}
    yield table.problem("dict", FEW, **both, params={"module": TwoInputs})
    dataset = TensorDataset(torch.from_numpy(X), torch.from_numpy(table.y))
    yield table.problem("dataset", FEW, X=dataset, y=None)
    sampler = {"iterator_train__sampler": RandomSampler(dataset)}
    yield table.problem("sampler", "Default ELR", X=dataset, y=None, params=sampler)
    sampler["stop"] = stopping.LabelWaveStop()
    yield table.problem("sampler, phases", "Prestopping", X=dataset, params=sampler)
    functions = ("iterator_train__collate_fn", "iterator_valid__collate_fn")
    params = {"module": MeanWord, "lr": 0.5, **dict.fromkeys(functions, pad)}
    words = {"X": Words(150, seed=0), "y": None, "clean": {"X_val": Words(40, seed=1)}}
    yield table.problem("collate", ENGINE, **words, params=params)
    images = Digits(160, as_images=True)
    params = {"lr": 0.05, "max_epochs": 6}
    yield images.problem("images", "Prestopping CoTeachingPlus", params=params)
    params = {**params, "autocast": "bfloat16"}
    yield images.problem("bfloat16", f"{PHASES} D2L LearningToReweight", params=params)
    # Labels that cannot be predicted: CrossPrestopping falls back to an ensemble.
    rng = np.random.RandomState(2)
    nothing = rng.normal(size=(300, 20)).astype(np.float32)
    yield table.problem("random labels", PHASES, X=nothing, y=rng.randint(10, size=300))
    names = np.array([f"digit {label}" for label in table.y])
    yield table.problem("names of classes", "Prestopping PrestoppingPlus", y=names)


def _arguments_of_fit(table: Digits) -> Iterator[Problem]:
    weights = np.random.RandomState(3).randint(4, size=len(table.y)).astype(float)
    given = {"sample_weight": weights}
    yield table.problem("sample weights", ENGINE, given=given)
    balanced = {"class_weight": "balanced"}
    yield table.problem("class weights", FEW, params=balanced)
    yield table.problem("both weights", PHASES, given=given, params=balanced)
    true = {"y_true": table.true}
    yield table.problem("validation data", ENGINE, given={**table.clean, **true})
    oracle = {"stop": stopping.OracleStop()}
    yield table.problem("oracle", PHASES, given=true, params=oracle)
    for rule in (
        stopping.HoldoutStop(patience=2),
        stopping.LabelWaveStop(),
        stopping.NoiseRateStop(0.3),
        stopping.MemorizedFractionStop(0.3),
    ):
        name = type(rule).__name__
        yield table.problem(name, PHASES, given=given, params={"stop": rule})


def _parameters(table: Digits) -> Iterator[Problem]:
    by_batch = LRScheduler(CosineAnnealingLR, T_max=90, step_every="batch")
    plateau = LRScheduler(ReduceLROnPlateau, monitor="train_loss", patience=0)
    scoring = EpochScoring("accuracy", lower_is_better=False, name="score")
    networks = {
        "user module": {"module": UserModule},
        "pretrained": {"module": pretrained()},
        "Adam": {"optimizer": torch.optim.Adam, "lr": 0.005},
        "user schedule": {"callbacks": [("schedule", by_batch)]},
        "generalized loss": {"criterion": losses.GCELoss, "criterion__q": 0.5},
    }
    for name, params in networks.items():
        yield table.problem(name, FEW, params=params)
    watched = {"callbacks": [("plateau", plateau), scoring, Watch()]}
    yield table.problem("callbacks", ENGINE, params=watched, given=table.clean)
    rate = {"noise_rate": None}
    yield table.problem("estimated rate", ESTIMATING, params=rate)
    unseeded = {"random_state": None}
    yield table.problem("without a seed", "Prestopping Selfie", params=unseeded)


def _ways_to_fit(table: Digits) -> Iterator[Problem]:
    yield table.problem("fitted again", "Selfie CrossPrestopping", fit=fit_again)
    names = f"{ENGINE} ForwardCorrection MentorNet"
    for place in ("epoch", "batch"):
        yield table.problem(f"killed in {place}", names, fit=killed(place))
    holdout = {"stop": stopping.HoldoutStop(patience=2)}
    fit = killed("epoch")
    yield table.problem("killed with holdout", PHASES, params=holdout, fit=fit)
    for n_epochs in (5, 11):
        fit = interrupted(n_epochs)
        yield table.problem(f"interrupted after {n_epochs}", ENGINE, fit=fit)
    names = f"Default {PHASES}"
    yield table.problem("trajectories", names, fit=with_trajectories)
    params = {"module": Plain, "batch_size": 37, "max_epochs": 6}
    weights = np.arange(len(table.y)) % 3 + 0.5
    further = {"params": params, "in_processes": True}
    yield table.problem("two processes", f"{ENGINE} MentorNet", **further)
    further["given"] = {"sample_weight": weights}
    yield table.problem("two processes with weights", PHASES, **further)
