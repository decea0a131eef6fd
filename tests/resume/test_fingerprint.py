"""Fits that differ in anything are refused, and the same ones go on."""

import numpy as np
import pytest
import torch
from scipy import sparse
from sklearn.model_selection import KFold
from skorch.callbacks import EpochScoring, LRScheduler
from torch import nn
from torch.utils.data import TensorDataset, WeightedRandomSampler

import skpresto
from skpresto import CrossPrestoppingClassifier, DefaultClassifier
from skpresto._classifier.check import check_fit
from skpresto._resume.fingerprint import fingerprint
from skpresto.exceptions import ResumeWarning
from tests.discovery import every, quick, short_fits_warn
from tests.resume.values import Net


class TwoInputs(Net):
    def __init__(self):
        super().__init__(2, 4)

    def forward(self, a, b):
        return super().forward(torch.cat([a, b], dim=1))


def fit(folder, small, *data, Classifier=DefaultClassifier, **params):
    X, y = data or small
    clf = quick(Classifier, **{"max_epochs": 2, **params})
    with skpresto.resumable(folder, every=0, keep=True):
        return clf.fit(X, y)


REFUSED = {
    "instance": (
        "parameter criterion.label_smoothing (0.0, now 0.5)",
        {"criterion": nn.CrossEntropyLoss()},
        {"criterion": nn.CrossEntropyLoss(label_smoothing=0.5)},
    ),
    "buffer": (
        "parameter criterion.weight",
        {"criterion": nn.CrossEntropyLoss(weight=torch.ones(4))},
        {"criterion": nn.CrossEntropyLoss(weight=torch.arange(4.0))},
    ),
    "class": (
        "parameter criterion (CrossEntropyLoss, now MultiMarginLoss)",
        {"criterion": nn.CrossEntropyLoss},
        {"criterion": nn.MultiMarginLoss},
    ),
    "callback": (
        "parameter callbacks[0].step_size (2, now 7)",
        {"callbacks": [LRScheduler("StepLR", step_size=2)]},
        {"callbacks": [LRScheduler("StepLR", step_size=7)]},
    ),
    "random state": (
        "parameter random_state",
        {"random_state": np.random.RandomState(0)},
        {"random_state": np.random.RandomState(1)},
    ),
    "seed": ("parameter random_state (0, now 1)", {}, {"random_state": np.int64(1)}),
    "parameter that was not given": (
        "parameter optimizer__weight_decay (none, now 0.1)",
        {},
        {"optimizer__weight_decay": 0.1},
    ),
    "threads": ("threads (1, now 2)", {}, {"n_jobs": 2}),
    "weights of classes": (
        "parameter class_weight (None, now dict of 0), sample_weight (None, now ",
        {},
        {"class_weight": {0: 2}},
    ),
}


@pytest.mark.parametrize("case", REFUSED.values(), ids=REFUSED)
def test_a_changed_fit_is_refused_with_what_differs(case, small, tmp_path):
    message, before, now = case
    fit(tmp_path / "fit", small, **before)
    with pytest.raises(ValueError, match="cannot resume fit 1 in") as caught:
        fit(tmp_path / "fit", small, **now)
    assert message in str(caught.value)


def test_many_differences_are_not_all_named(small, tmp_path):
    fit(tmp_path / "fit", small)
    other = {f"module__a{i}": i for i in range(20)}
    with pytest.raises(ValueError, match=r"module__a0 \(none, now 0\), .*, 12 more ch"):
        fit(tmp_path / "fit", small, **other)


@every
def test_all_parameters_are_compared(Classifier, small):
    clf = quick(Classifier, optimizer__momentum=0.5)
    entries = fingerprint(clf, check_fit(clf, *small, None, None, None, None)).entries
    for name in clf.get_params(deep=False).keys() - {"verbose", "n_jobs"}:
        assert f"parameter {name}" in entries
    assert "threads" in entries


def changed_rows(X):
    X = X.copy()
    X[77, 1] += 1e-6
    return X


class Rows(torch.utils.data.Dataset):
    """Reads its items from a file."""

    def __init__(self, path):
        self.path = str(path)
        self.n_rows = len(np.load(path))

    def __len__(self):
        return self.n_rows

    def __getitem__(self, row):
        return torch.from_numpy(np.load(self.path)[row])


#: Functions of an array and a folder that make data of a kind.
KINDS = {
    "array": lambda X, folder: X,
    "sparse": lambda X, folder: sparse.csr_array(X),
    "dict": lambda X, folder: {"a": X[:, :1], "b": X[:, 1:]},
    "memory map": lambda X, folder: memory_map(X, folder / "X.npy"),
    "data set": lambda X, folder: TensorDataset(
        torch.from_numpy(X), torch.zeros(len(X))
    ),
    "files": lambda X, folder: Rows(saved(X, folder / "X.npy")),
}


def saved(X, path):
    np.save(path, X)
    return path


def memory_map(X, path):
    return np.load(saved(X, path), mmap_mode="r")


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_one_changed_number_is_noticed_in_data_of_all_kinds(kind, small, tmp_path):
    X, y = small
    X = X.astype(np.float32)

    def fit_to(X):
        data = kind(X, tmp_path)
        clf = quick(DefaultClassifier, max_epochs=2)
        if isinstance(data, dict):
            clf = DefaultClassifier(TwoInputs(), max_epochs=2, random_state=0)
        with skpresto.resumable(tmp_path / "fit", every=0, keep=True):
            clf.fit(data, y)

    fit_to(X)
    fit_to(X)
    with pytest.raises(ValueError, match="another fit of DefaultClassifier: X"):
        fit_to(changed_rows(X))


def test_the_same_fit_in_other_words_goes_on(small, tmp_path):
    loss = {"class_weight": {0: 1, 1: 2}, "criterion": nn.CrossEntropyLoss()}
    first = fit(tmp_path / "fit", small, lr=1e-1, batch_size=64, **loss)
    written = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.pt")}
    again = {"class_weight": {1: 2, 0: 1}, "criterion": nn.CrossEntropyLoss()}
    words = {"lr": np.float64(0.1), "batch_size": np.int64(64), "verbose": 0}
    second = fit(tmp_path / "fit", small, n_jobs=1, **words, **again)
    np.testing.assert_array_equal(
        first.predict_proba(small[0]), second.predict_proba(small[0])
    )
    for path, when in written.items():
        assert path.stat().st_mtime_ns == when, "the fit was not resumed"


def test_a_fit_that_cannot_be_compared_is_trained_and_not_stored(small, tmp_path):
    score = EpochScoring("accuracy", on_train=True)
    score.log = open(tmp_path / "log", "w")  # noqa: SIM115
    message = (
        r"The progress of DefaultClassifier will not be stored, since it cannot be "
        r"compared by value .*: parameter callbacks\[0\].log \(_io.TextIOWrapper\). "
        r"Leave that out, .*if it is killed, this fit begins anew"
    )
    with score.log, pytest.warns(ResumeWarning, match=message):
        clf = fit(tmp_path / "fit", small, callbacks=[score])
    assert clf.n_epochs_ == 2
    assert list(tmp_path.glob("fit/fit-*")) == []


def test_a_fit_that_draws_from_a_generator_of_the_user_is_not_stored(small, tmp_path):
    generator = torch.Generator().manual_seed(0)
    sampler = WeightedRandomSampler(np.ones(len(small[1])), 120, generator=generator)
    message = (
        r"will not be stored, since what was drawn from random generators of yours is "
        r"not stored: parameter iterator_train__sampler.generator. Leave them out, and"
    )
    with pytest.warns(ResumeWarning, match=message):
        fit(tmp_path / "fit", small, iterator_train__sampler=sampler)
    assert list(tmp_path.glob("fit/fit-*")) == []


@short_fits_warn
def test_a_splitter_may_have_a_generator(small, tmp_path):
    for _ in range(2):
        cv = KFold(2, shuffle=True, random_state=np.random.RandomState(0))
        fit(tmp_path / "fit", small, Classifier=CrossPrestoppingClassifier, cv=cv)


def test_another_machine_is_told(small, tmp_path, monkeypatch):
    fit(tmp_path / "fit", small)
    monkeypatch.setattr(
        "skpresto._resume.folder.machine", lambda: {"processor": "slow", "GPU": "none"}
    )
    message = r"begun on another machine: processor \(.*, now slow\). It goes on, but"
    with pytest.warns(ResumeWarning, match=message):
        fit(tmp_path / "fit", small)


def test_another_precision_is_refused(small, tmp_path):
    fit(tmp_path / "fit", small)
    torch.set_float32_matmul_precision("medium")
    try:
        with pytest.raises(ValueError, match=r"of products \(highest, now medium\)"):
            fit(tmp_path / "fit", small)
    finally:
        torch.set_float32_matmul_precision("highest")
