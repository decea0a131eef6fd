"""Data sets with true labels, and wrong labels of many kinds to audit.

Constants of the calibration are fitted on :data:`FITTED` alone; numbers that are
reported come from :data:`HELD_OUT`. Sets of the data pack are read from the folder that
the environment variable SKPRESTO_DATA names.
"""

from collections.abc import Callable
from functools import lru_cache, partial

import numpy as np
from sklearn.datasets import (
    load_breast_cancer,
    load_diabetes,
    load_digits,
    load_iris,
    load_wine,
    make_classification,
    make_friedman1,
    make_hastie_10_2,
    make_moons,
)
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.preprocessing import StandardScaler
from sklearn.utils import Bunch

from skpresto.datasets import load_npz
from skpresto.noise import InstanceDependentNoise, PairNoise, SymmetricNoise

#: Rows of large sets that are used.
MOST_ROWS = 2500
#: Components of sets with more columns, which classifiers would take long with.
MOST_COLUMNS = 150


def _pack(name: str) -> Bunch:
    data = load_npz(f"{name}.npz")
    X = data["X_train"].reshape(len(data["X_train"]), -1).astype(np.float32)
    return Bunch(X=X, y=data["y_train"], human=dict(data.get("noisy_labels", {})))


def _of_sklearn(load: Callable[..., tuple[np.ndarray, np.ndarray]]) -> Bunch:
    X, y = load(return_X_y=True)
    return Bunch(X=X.astype(np.float32), y=y, human={})


def _generated(**how: object) -> Bunch:
    X, y = make_classification(random_state=0, **how)
    return Bunch(X=X.astype(np.float32), y=y, human={})


def _hastie() -> Bunch:
    X, y = make_hastie_10_2(1500, random_state=0)
    return Bunch(X=X, y=y, human={})


def _moons() -> Bunch:
    X, y = make_moons(1200, noise=0.35, random_state=0)
    return Bunch(X=X, y=y, human={})


def _thirds(X: np.ndarray, target: np.ndarray) -> Bunch:
    """Return a regression problem as three classes of equal size, which is hard."""
    y = np.searchsorted(np.quantile(target, [1 / 3, 2 / 3]), target)
    return Bunch(X=X, y=y, human={})


FITTED: dict[str, Callable[[], Bunch]] = {
    **{name: partial(_pack, name) for name in ("letter", "spambase", "music_genre")},
    **{name: partial(_pack, name) for name in ("yoruba_news", "youtube_weak")},
    "digits": partial(_of_sklearn, load_digits),
    "wine": partial(_of_sklearn, load_wine),
    "breast_cancer": partial(_of_sklearn, load_breast_cancer),
    "hastie": _hastie,
    **{
        f"generated {n_classes}, {class_sep}": partial(
            _generated,
            n_samples=n_samples,
            n_features=20,
            n_informative=10,
            n_clusters_per_class=n_clusters,
            n_classes=n_classes,
            class_sep=class_sep,
            weights=weights,
        )
        for n_samples, n_classes, class_sep, n_clusters, weights in (
            (1000, 4, 2.0, 1, None),
            (2000, 2, 0.5, 3, None),
            (2500, 3, 1.0, 2, (0.6, 0.3)),
            (1500, 8, 0.6, 2, None),
            (2500, 12, 1.5, 1, None),
        )
    },
}
HELD_OUT: dict[str, Callable[[], Bunch]] = {
    **{name: partial(_pack, name) for name in ("magic", "satimage", "fashion_mnist")},
    **{name: partial(_pack, name) for name in ("cifar10n_feat", "trec_rules")},
    "iris": partial(_of_sklearn, load_iris),
    "moons": _moons,
    "diabetes": lambda: _thirds(*load_diabetes(return_X_y=True)),
    "friedman": lambda: _thirds(*make_friedman1(1500, noise=2.0, random_state=0)),
}
#: Columns of labels by people, or by rules that are as good as people.
HUMAN = {
    "music_genre": ("one", "mv"),
    "yoruba_news": ("gazetteer",),
    "youtube_weak": ("lf",),
    "cifar10n_feat": ("aggregate", "random1", "worst"),
}
CLEAN = "clean"
NOISES = ("symmetric", "pair", "boundary", "near", "instance")


@lru_cache(maxsize=2)
def true_set(name: str) -> Bunch:
    """Return a set with standardized columns, class numbers and at most 2,500 rows."""
    data = {**FITTED, **HELD_OUT}[name]()
    rows = np.random.RandomState(0).permutation(len(data.y))[:MOST_ROWS]
    X = StandardScaler().fit_transform(data.X[rows])
    if X.shape[1] > MOST_COLUMNS:
        X = PCA(MOST_COLUMNS, random_state=0).fit_transform(X)
    classes, y = np.unique(data.y[rows], return_inverse=True)
    human = {k: np.searchsorted(classes, v[rows]) for k, v in data.human.items()}
    return Bunch(X=X.astype(np.float32), y=y, human=human)


def noisy_labels(name: str, noise: str, rate: float | None, seed: int) -> np.ndarray:
    """Return labels of a set of which some are wrong."""
    data, rng = true_set(name), np.random.RandomState(seed)
    if noise == CLEAN:
        return data.y.copy()
    if noise in data.human:
        return data.human[noise]
    if noise in ("boundary", "near"):
        return _at_the_boundary(data, rate, rng, is_near=noise == "near")
    makers = {
        "symmetric": SymmetricNoise,
        "pair": PairNoise,
        "instance": InstanceDependentNoise,
    }
    return makers[noise](rate, random_state=rng).fit_transform(data.y, data.X)


def _at_the_boundary(
    data: Bunch, rate: float | None, rng: np.random.RandomState, is_near: bool
) -> np.ndarray:
    """Return labels whose errors are at the samples that a linear rule finds hard.

    Wrong labels are random other classes or, if they are near, the likeliest other one.
    """
    assert rate is not None
    rule = LinearDiscriminantAnalysis(solver="lsqr", shrinkage=0.1)
    probability = rule.fit(data.X, data.y).predict_proba(data.X) + 1e-6
    entropy = -(probability * np.log(probability)).sum(axis=1) + 1e-3
    wrong = rng.choice(
        len(data.y), round(rate * len(data.y)), False, entropy / entropy.sum()
    )
    labels = data.y.copy()
    n_classes = probability.shape[1]
    if is_near:
        probability[np.arange(len(labels)), data.y] = 0
        labels[wrong] = probability[wrong].argmax(axis=1)
    else:
        steps = 1 + rng.randint(n_classes - 1, size=len(wrong))
        labels[wrong] = (data.y[wrong] + steps) % n_classes
    return labels
