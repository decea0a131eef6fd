"""The data of a cell: noisy training rows, clean validation rows and test rows.

Files are read from the folder that the environment variable SKPRESTO_DATA names;
"digits" is part of scikit-learn.
"""

from dataclasses import dataclass
from functools import lru_cache, partial

import numpy as np
from cells import CLEAN, INJECTED, INSTANCE, Cell, Setting
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.utils import Bunch

from skpresto.datasets import (
    load_animal10n,
    load_cifar10,
    load_cifar100,
    load_food101n,
    load_npz,
)
from skpresto.noise import InstanceDependentNoise, PairNoise, SymmetricNoise

#: Fraction of the training rows that is split off with clean labels.
VALIDATION_FRACTION = 0.05
#: Noise rates of data sets without true labels, as estimated by their authors.
PUBLISHED_RATES = {"animal10n": 0.08, "food101n": 0.184}
_NOISE = {
    "pair": PairNoise,
    "symmetric": SymmetricNoise,
    INSTANCE: InstanceDependentNoise,
}
#: The same rows for every seed, so that seeds differ in noise and training only.
_ROWS_SEED = 0


def _digits() -> Bunch:
    X, y = load_digits(return_X_y=True)
    X, X_test, y, y_test = train_test_split(
        X.astype(np.float32), y, test_size=0.3, stratify=y, random_state=0
    )
    return Bunch(X_train=X, y_train=y, X_test=X_test, y_test=y_test)


#: Stored as a file of their name.
_NPZ = (
    *("letter", "satimage", "magic", "spambase", "music_genre", "yoruba_news"),
    *("youtube_weak", "trec_rules", "fashion_mnist", "cifar10n", "cifar10n_feat"),
)
LOADERS = {
    "digits": _digits,
    **{name: partial(load_npz, f"{name}.npz") for name in _NPZ},
    "cifar10": load_cifar10,
    "cifar100": load_cifar100,
    "animal10n": load_animal10n,
    "food101n": load_food101n,
}


@dataclass(frozen=True)
class Split:
    """Training, validation and test rows.

    ``y_true`` is None where the true labels are not known. ``y_val`` then holds noisy
    labels and is only used to report errors.
    """

    X: np.ndarray
    y: np.ndarray
    y_true: np.ndarray | None
    noise_rate: float
    X_val: np.ndarray
    y_val: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray


def split_of(cell: Cell, setting: Setting) -> Split:
    """Return the data of a cell; they do not depend on its method, rule or q."""
    data = _rows_of(setting.source, setting.rows, setting.test_rows)
    is_real = cell.noise not in (CLEAN, *INJECTED)
    given = _noisy_labels(data, cell.noise) if is_real else data.y_train
    true = data.get("y_train")
    cleanest = given if true is None else true
    kept, held = train_test_split(
        np.arange(len(given)),
        test_size=VALIDATION_FRACTION,
        stratify=cleanest,
        random_state=cell.seed,
    )
    y = given[kept]
    if cell.noise in INJECTED:
        # An int would make the draws depend on the labels; these are as ever.
        draws = np.random.RandomState(cell.seed)
        noise = _NOISE[cell.noise](cell.rate, random_state=draws)
        y = noise.fit_transform(y, data.X_train[kept])
    y_true = None if true is None else true[kept]
    known = true is not None
    return Split(
        X=data.X_train[kept],
        y=y,
        y_true=y_true,
        noise_rate=float(np.mean(y != y_true))
        if known
        else PUBLISHED_RATES[setting.source],
        # Rows with verified labels are preferred to rows with noisy labels.
        X_val=data.X_train[held] if known else data.get("X_valid", data.X_train[held]),
        y_val=cleanest[held] if known else data.get("y_valid", cleanest[held]),
        X_test=data.X_test,
        y_test=data.y_test,
    )


def _noisy_labels(data: Bunch, noise: str) -> np.ndarray:
    """Return a column of real noisy labels, or the only one of a set."""
    return data["noisy_labels"][noise] if "noisy_labels" in data else data["y_noisy"]


@lru_cache(maxsize=1)  # successive cells share a data set
def _rows_of(source: str, rows: int | None, test_rows: int | None) -> Bunch:
    """Return the rows of a data set, standardized by column or channel."""
    data = Bunch(**LOADERS[source]())
    labels = [name for name in ("y_train", "y_noisy") if name in data]
    drawn = _draw(data[labels[0]], rows)
    for name in ("X_train", *labels):
        data[name] = data[name][drawn]
    for name, column in data.get("noisy_labels", {}).items():
        data["noisy_labels"][name] = column[drawn]
    drawn = _draw(data.y_test, test_rows)
    data.X_test, data.y_test = data.X_test[drawn], data.y_test[drawn]
    mean, scale = _statistics(data.X_train)
    for name in [name for name in data if name.startswith("X_")]:
        data[name] = (data[name].astype(np.float32) - mean) / scale
    return data


def _draw(y: np.ndarray, n: int | None) -> np.ndarray:
    """Return the positions of ``n`` rows, drawn stratified by class."""
    everything = np.arange(len(y))
    if n is None or n >= len(y):
        return everything
    kept, _ = train_test_split(
        everything, train_size=n, stratify=y, random_state=_ROWS_SEED
    )
    return np.sort(kept)


def _statistics(X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return mean and standard deviation of each column or channel."""
    axes = tuple(axis for axis in range(X.ndim) if axis != 1)
    mean = X.mean(axis=axes, dtype=np.float64, keepdims=True)
    scale = X.std(axis=axes, dtype=np.float64, keepdims=True)
    scale[scale == 0] = 1.0
    return mean.astype(np.float32), scale.astype(np.float32)
