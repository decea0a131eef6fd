"""Small seeded problems, each with the classifiers that are fitted to it."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import fits
import numpy as np
import torch
from modules import MeanWord, Mixing, Plain, TwoInputs, pad, pretrained, sequences
from scipy import sparse
from sklearn.datasets import load_digits, make_classification
from skorch.callbacks import EpochScoring, LRScheduler
from torch.optim.lr_scheduler import CosineAnnealingLR, ReduceLROnPlateau
from torch.utils.data import RandomSampler, TensorDataset

import skpresto
from skpresto import baselines, losses, stopping

SETTINGS = {"max_epochs": 10, "batch_size": 32, "random_state": 0}
#: So that small networks learn enough for a second phase.
LONGER = {"lr": 0.3, "max_epochs": 18}
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
    "CORES": {},
    "D2L": {"warm_up": 0.3, "window": 2},
    "Decouple": {"warm_up": 0.3},
    "DivideMix": {},
    "ELR": {},
    "ForwardCorrection": {},
    "INCV": {"rounds": 2},
    "ITLM": {"noise_rate": 0.3, "rounds": 2},
    "JoCoR": {"noise_rate": 0.3},
    "LearningToReweight": {"lr": 0.03},
    "MentorNet": {"percentile": 80},
    "Morph": {},
    "PES": {"early_epochs": 0.3},
    "SOP": {},
    "SSR": {},
}
ALL = " ".join(CLASSIFIERS)
PHASES = "Prestopping PrestoppingPlus CrossPrestopping"
FEW = f"{PHASES} CoTeachingPlus LearningToReweight"
SHARED = f"Default {PHASES} CoTeachingPlus Selfie ELR D2L INCV ITLM PES"
LATER = "CORES Morph PES SOP SSR DivideMix"
#: Those that together run through all of the training engine.
ENGINE = f"{SHARED} LearningToReweight"


@dataclass(frozen=True)
class Problem:
    """Samples, parameters, arguments of ``fit``, and a way to fit.

    ``clean`` is given to classifiers that cannot do without.
    """

    name: str
    classifiers: str
    X: Any
    y: Any
    clean: dict[str, Any]
    params: dict[str, Any] = field(default_factory=dict)
    given: dict[str, Any] = field(default_factory=dict)
    fit: Callable[[Any, dict[str, Any]], fits.Fitted] = fits.once
    in_processes: bool = False

    def fitted(self, name: str) -> fits.Fitted:
        """Return a fitted classifier, and what else is to be recorded."""
        home = skpresto if hasattr(skpresto, f"{name}Classifier") else baselines
        settings = {**SETTINGS, **CLASSIFIERS[name], **self.params}
        clf = getattr(home, f"{name}Classifier")(**settings)
        clean = self.clean if name == "LearningToReweight" else {}
        return self.fit(clf, {"X": self.X, "y": self.y, **clean, **self.given})


def noisy(y: np.ndarray) -> np.ndarray:
    is_wrong = np.random.RandomState(1).uniform(size=len(y)) < 0.3
    return np.where(is_wrong, (y + 1) % (y.max() + 1), y)


def problems(folder: Path) -> Iterator[Problem]:
    """Yield all problems; files are written to the folder."""
    X, true = load_digits(return_X_y=True)
    X = (X / 16).astype(np.float32)
    clean = {"X_val": X[300:380], "y_val": true[300:380]}
    table = Problem("table", ALL, X[:300], noisy(true[:300]), clean)
    yield table
    two, labels = make_classification(300, 12, n_informative=6, random_state=0)
    clean = {"X_val": two[:60], "y_val": labels[:60]}
    yield Problem("two classes", ALL, two.astype(np.float32), noisy(labels), clean)
    yield from other_samples(table, folder)
    yield from arguments_of_fit(table, true[:300])
    yield from parameters(table)
    yield from ways_to_fit(table)


def other_samples(table: Problem, folder: Path) -> Iterator[Problem]:
    X, X_val = table.X, table.clean["X_val"]
    few = replace(table, classifiers=FEW)
    mapped = np.memmap(folder / "X.dat", np.float32, "w+", shape=X.shape)
    mapped[:] = X
    yield replace(few, name="memory map", X=mapped)
    yield replace(few, name="sparse", X=sparse.csr_matrix(X))
    parts, val = ({"left": x[:, :30], "right": x[:, 30:]} for x in (X, X_val))
    params = {"module": TwoInputs, "module__n_features": 64, **LONGER}
    clean = {**table.clean, "X_val": val}
    yield replace(few, name="dict", X=parts, clean=clean, params=params)
    dataset = TensorDataset(torch.from_numpy(X), torch.from_numpy(table.y))
    few = replace(few, y=None)
    yield replace(few, name="dataset", X=dataset)
    sampler = {"iterator_train__sampler": RandomSampler(dataset)}
    one = replace(few, name="sampler", X=dataset, params=sampler)
    yield replace(one, classifiers="Default ELR")
    with_rule = {**sampler, "stop": stopping.LabelWaveStop()}
    yield replace(one, classifiers="Prestopping", params=with_rule)
    both = ("iterator_train__collate_fn", "iterator_valid__collate_fn")
    params = {"module": MeanWord, "lr": 2.0, **dict.fromkeys(both, pad)}
    words, clean = sequences(150, 0.25), {"X_val": sequences(40, 0)}
    one = replace(few, name="collate", X=words, clean=clean, params=params)
    yield replace(one, classifiers=ENGINE)
    # Labels that cannot be predicted: CrossPrestopping falls back to an ensemble.
    rng = np.random.RandomState(2)
    drawn = {"X": rng.normal(size=(300, 20)), "y": rng.randint(10, size=300)}
    yield replace(table, name="random labels", classifiers=PHASES, **drawn)
    labels = np.array([f"digit {label}" for label in table.y])
    yield replace(table, name="names of classes", classifiers=PHASES, y=labels)
    X, X_val = (x.reshape(-1, 1, 8, 8) for x in (X[:160], X_val))
    params = {"lr": 0.05, "max_epochs": 6}
    images = replace(table, X=X, y=table.y[:160], clean={**table.clean, "X_val": X_val})
    names = "Prestopping CoTeachingPlus Morph"
    yield replace(images, name="images", classifiers=names, params=params)
    params = {**params, "autocast": "bfloat16"}
    names = f"{PHASES} D2L LearningToReweight"
    yield replace(images, name="bfloat16", classifiers=names, params=params)


def arguments_of_fit(table: Problem, true: np.ndarray) -> Iterator[Problem]:
    drawn = np.random.RandomState(3).randint(4, size=len(true)).astype(float)
    weighted = replace(table, given={"sample_weight": drawn})
    yield replace(weighted, name="sample weights", classifiers=ENGINE)
    balanced = {"class_weight": "balanced"}
    yield replace(table, name="class weights", classifiers=FEW, params=balanced)
    phases = replace(weighted, classifiers=PHASES)
    yield replace(phases, name="both weights", params=balanced)
    holdout = {"stop": stopping.HoldoutStop(patience=2)}
    yield replace(phases, name="holdout", params=holdout)
    oracle = {"stop": stopping.OracleStop()}
    yield replace(phases, name="oracle", given={"y_true": true}, params=oracle)
    every = {**table.clean, "y_true": true}
    yield replace(table, name="validation data", classifiers=ENGINE, given=every)


def parameters(table: Problem) -> Iterator[Problem]:
    by_batch = LRScheduler(CosineAnnealingLR, T_max=90, step_every="batch")
    of_user: dict[str, dict[str, Any]] = {
        "user module": {"module": Mixing},
        "pretrained": {"module": pretrained(), **LONGER},
        "Adam": {"optimizer": torch.optim.Adam, "lr": 0.005},
        "user schedule": {"callbacks": [("schedule", by_batch)]},
        "generalized loss": {"criterion": losses.GCELoss, "criterion__q": 0.5},
    }
    for name, params in of_user.items():
        yield replace(table, name=name, classifiers=FEW, params=params)
    plateau = LRScheduler(ReduceLROnPlateau, monitor="train_loss", patience=0)
    scoring = EpochScoring("accuracy", lower_is_better=False, name="score")
    watched = replace(table, params={"callbacks": [plateau, scoring]}, fit=fits.watched)
    yield replace(watched, name="callbacks", classifiers=ENGINE, given=table.clean)
    rate, names = {"noise_rate": None}, "CoTeaching CoTeachingPlus Selfie ITLM INCV"
    yield replace(table, name="estimated rate", classifiers=names, params=rate)
    unseeded, names = {"random_state": None}, "Prestopping Selfie"
    yield replace(table, name="without a seed", classifiers=names, params=unseeded)


def ways_to_fit(table: Problem) -> Iterator[Problem]:
    engine = replace(table, classifiers=ENGINE)
    yield replace(engine, name="interrupted", fit=fits.interrupted)
    names = f"{ENGINE} ForwardCorrection MentorNet {LATER}"
    yield replace(table, name="killed", classifiers=names, fit=fits.killed)
    phases = replace(table, classifiers=PHASES)
    holdout = {"stop": stopping.HoldoutStop(patience=2)}
    yield replace(phases, name="killed, holdout", params=holdout, fit=fits.killed)
    names = f"{PHASES} Selfie CoTeachingPlus"
    fit = fits.killed_in_batch
    yield replace(table, name="killed in a batch", classifiers=names, fit=fit)
    yield replace(phases, name="trajectories", fit=fits.with_trajectories)
    yield replace(phases, name="fitted again", fit=fits.again)
    plain = {"module": Plain, "batch_size": 37, **LONGER}
    several = replace(phases, params=plain, in_processes=True)
    yield replace(several, name="two processes", classifiers=SHARED)
    given = {"sample_weight": np.arange(300) % 3 + 0.5}
    several = replace(several, params={**plain, **holdout}, given=given)
    yield replace(several, name="two processes, weights")
