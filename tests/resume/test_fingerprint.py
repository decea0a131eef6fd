"""Fits are compared by value: by everything that can change them, and nothing else."""

import collections
import enum
import functools
import random
import subprocess
import sys
import textwrap
import threading

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.model_selection import KFold
from skorch.callbacks import EpochScoring, LRScheduler, PrintLog
from torch import nn
from torch.utils.data import TensorDataset, WeightedRandomSampler

import skpresto
from skpresto import CrossPrestoppingClassifier, DefaultClassifier
from skpresto._resume.by_value import described
from skpresto.exceptions import ResumeWarning
from skpresto.stopping import AgreementStop
from tests.discovery import quick, short_fits_warn


def texts(value):
    found = described(value, "it")
    assert found.unknown == []
    return found.texts


class Net(nn.Module):
    def __init__(self, n_features, n_classes, width=4, seed=0):
        super().__init__()
        torch.manual_seed(seed)
        self.first = nn.Linear(n_features, width)
        self.last = nn.Linear(width, n_classes)

    def forward(self, X):
        return self.last(torch.relu(self.first(X)))


class TwoInputs(Net):
    def __init__(self):
        super().__init__(2, 4)

    def forward(self, a, b):
        return super().forward(torch.cat([a, b], dim=1))


def with_attribute(module, **attributes):
    for name, value in attributes.items():
        setattr(module, name, value)
    return module


def with_buffer(value):
    loss = nn.CrossEntropyLoss()
    loss.register_buffer("offset", torch.full((2,), value), persistent=False)
    return loss


def frozen(module):
    module.first.requires_grad_(False)
    return module


def tied(module):
    module.other = module.first
    return module


def untied(module):
    module.other = nn.Linear(2, 4)
    module.other.load_state_dict(module.first.state_dict())
    return module


def hooked(factor):
    module = Net(2, 2)
    module.register_forward_hook(lambda module, inputs, out: factor * out)
    return module


def rate(factor):
    return lambda epoch: factor**epoch


FACTOR = 2


def with_global(epoch):
    return FACTOR * epoch


def with_default(epoch, factor=2):
    return factor * epoch


def made_of(source):
    space = {"__name__": "made"}
    exec(textwrap.dedent(source), space)
    return space["made"]


class Color(enum.Enum):
    RED = 1
    BLUE = 2


class Slots:
    __slots__ = ("size",)

    def __init__(self, size):
        self.size = size


class Handle:
    """Holds something that has no value, and says so."""

    def __init__(self, name):
        self.name = name
        self.lock = threading.Lock()

    def __getstate__(self):
        return {"name": self.name}


Pair = collections.namedtuple("Pair", "a b")
METHOD = "class made:\n    def rate(self):\n        return {}\n"

#: Functions that make two values which are different, by what differs.
DIFFERENT = {
    "None and text": (lambda: None, lambda: "None"),
    "number and text": (lambda: 1, lambda: "1"),
    "int and float": (lambda: 1, lambda: 1.0),
    "int and bool": (lambda: 1, lambda: True),
    "single and double precision": (lambda: np.float32(0.1), lambda: 0.1),
    "long texts": (lambda: "a" * 99 + "b", lambda: "a" * 99 + "c"),
    "dates": (lambda: np.datetime64(1, "s"), lambda: np.datetime64(1, "ms")),
    "list and tuple": (lambda: [1], lambda: (1,)),
    "order of a dict": (lambda: {"a": 1, "b": 2}, lambda: {"b": 2, "a": 1}),
    "keys of a dict": (lambda: {1: "a"}, lambda: {"1": "a"}),
    "long lists": (lambda: [*range(99)], lambda: [*range(98), 0]),
    "long lists of lists": (lambda: [[1]] * 99, lambda: [[1]] * 98 + [[2]]),
    "long dicts": (
        lambda: dict.fromkeys(range(99), 1),
        lambda: dict.fromkeys(range(99), 2),
    ),
    "sets": (lambda: {1, 2}, lambda: {1, 3}),
    "named tuples": (lambda: Pair(1, 2), lambda: Pair(1, 3)),
    "default of a dict": (
        lambda: collections.defaultdict(int),
        lambda: collections.defaultdict(float),
    ),
    "members": (lambda: Color.RED, lambda: Color.BLUE),
    "slots": (lambda: Slots(1), lambda: Slots(2)),
    "values of arrays": (lambda: np.zeros(3), lambda: np.array([0, 0, 1.0])),
    "shapes": (lambda: np.zeros(2), lambda: np.zeros((1, 2))),
    "types of arrays": (lambda: np.zeros(2), lambda: np.zeros(2, np.float32)),
    "byte orders": (lambda: np.zeros(2, ">f4"), lambda: np.zeros(2, "<f4")),
    "masks": (
        lambda: np.ma.array([1, 2], mask=[0, 0]),
        lambda: np.ma.array([1, 2], mask=[0, 1]),
    ),
    "objects in arrays": (
        lambda: np.array([1, "a"], dtype=object),
        lambda: np.array([1, "b"], dtype=object),
    ),
    "fields": (
        lambda: np.array([(1, 2)], dtype="i4,i4"),
        lambda: np.array([(1, 3)], dtype="i4,i4"),
    ),
    "array and tensor": (lambda: np.zeros(2), lambda: torch.zeros(2)),
    "complex tensors": (lambda: torch.tensor([1j]), lambda: torch.tensor([-1j])),
    "half precision": (
        lambda: torch.ones(2, dtype=torch.bfloat16),
        lambda: torch.tensor([1, 2], dtype=torch.bfloat16),
    ),
    "sparse tensors": (
        lambda: torch.eye(2).to_sparse(),
        lambda: (2 * torch.eye(2)).to_sparse(),
    ),
    "trained and frozen": (lambda: Net(2, 2), lambda: frozen(Net(2, 2))),
    "weights": (lambda: Net(2, 2), lambda: Net(2, 2, seed=1)),
    "tied weights": (lambda: tied(Net(2, 2)), lambda: untied(Net(2, 2))),
    "channels last": (
        lambda: torch.zeros(2, 3, 4, 4),
        lambda: torch.zeros(2, 3, 4, 4).to(memory_format=torch.channels_last),
    ),
    "attributes of modules": (lambda: nn.Dropout(0.1), lambda: nn.Dropout(0.2)),
    "further attributes": (
        lambda: Net(2, 2),
        lambda: with_attribute(Net(2, 2), temperature=2),
    ),
    "order of layers": (
        lambda: nn.ModuleDict({"a": nn.ReLU(), "b": nn.ReLU()}),
        lambda: nn.ModuleDict({"b": nn.ReLU(), "a": nn.ReLU()}),
    ),
    "buffers": (lambda: with_buffer(0.0), lambda: with_buffer(1.0)),
    "hooks": (lambda: hooked(1), lambda: hooked(2)),
    "classes": (lambda: nn.ReLU, lambda: nn.GELU),
    "functions": (lambda: torch.relu, lambda: torch.tanh),
    "closures": (lambda: rate(0.5), lambda: rate(0.6)),
    "code": (lambda: lambda x: x + 1, lambda: lambda x: x + 2),
    "names in code": (lambda: lambda x: x.a, lambda: lambda x: x.b),
    "partials": (
        lambda: functools.partial(torch.optim.SGD, momentum=0.5),
        lambda: functools.partial(torch.optim.SGD, momentum=0.6),
    ),
    "methods of a class of the user": (
        lambda: made_of(METHOD.format(1)),
        lambda: made_of(METHOD.format(2)),
    ),
    "class attributes": (
        lambda: type("A", (), {"size": 1}),
        lambda: type("A", (), {"size": 2}),
    ),
    "bases": (lambda: type("A", (dict,), {}), lambda: type("A", (list,), {})),
    "bound methods": (lambda: [1].count, lambda: [2].count),
    "schedules": (
        lambda: LRScheduler("StepLR", step_size=2),
        lambda: LRScheduler("StepLR", step_size=7),
    ),
    "scores": (lambda: EpochScoring("accuracy"), lambda: EpochScoring("roc_auc")),
    "stop rules": (AgreementStop, lambda: AgreementStop(margin=0)),
    "splitters": (lambda: KFold(3), lambda: KFold(3, shuffle=True, random_state=0)),
    "random states": (
        lambda: np.random.RandomState(0),
        lambda: np.random.RandomState(1),
    ),
    "random generators": (
        lambda: np.random.default_rng(0),
        lambda: np.random.default_rng(1),
    ),
    "generators of torch": (
        lambda: torch.Generator().manual_seed(0),
        lambda: torch.Generator().manual_seed(1),
    ),
    "generators of Python": (lambda: random.Random(0), lambda: random.Random(1)),
    "samplers": (
        lambda: WeightedRandomSampler([1, 2], 2),
        lambda: WeightedRandomSampler([1, 3], 2),
    ),
}


@pytest.mark.parametrize("pair", DIFFERENT.values(), ids=DIFFERENT)
def test_values_are_told_apart_and_equal_ones_are_not(pair):
    first, second = pair
    assert texts(first()) == texts(first())
    assert texts(second()) == texts(second())
    assert texts(first()) != texts(second())


#: Functions that make the same value in different ways.
EQUAL = {
    "numbers": (lambda: 1e-1, lambda: np.float64(0.1)),
    "integers": (lambda: 128, lambda: np.int64(128)),
    "truth": (lambda: True, lambda: np.True_),
    "texts": (lambda: "adam", lambda: np.str_("adam")),
    "strings that are not one object": (
        lambda: ["ab", "ab"],
        lambda: ["ab", "".join(["a", "b"])],
    ),
    "orders of sets": (lambda: {"a", "b", "c"}, lambda: {"c", "b", "a"}),
    "views": (lambda: np.zeros(3), lambda: np.zeros(6)[::2]),
    "devices": (lambda: "cpu", lambda: torch.device("cpu")),
    "callbacks that have been used": (
        lambda: EpochScoring("accuracy"),
        lambda: EpochScoring("accuracy").initialize(),
    ),
    "callbacks that only report": (PrintLog, lambda: PrintLog(sink=sys.stderr.write)),
    "what cannot be pickled, and says what counts": (
        lambda: Handle("a"),
        lambda: Handle("a"),
    ),
}


@pytest.mark.parametrize("pair", EQUAL.values(), ids=EQUAL)
def test_the_same_value_in_other_words_is_the_same(pair):
    first, second = pair
    assert texts(first()) == texts(second())


def test_globals_of_functions_count(monkeypatch):
    before = texts(with_global)
    monkeypatch.setitem(globals(), "FACTOR", 3)
    assert texts(with_global) != before


def test_defaults_of_functions_count(monkeypatch):
    before = texts(with_default)
    monkeypatch.setattr(with_default, "__defaults__", (3,))
    assert texts(with_default) != before


def test_values_that_contain_themselves_have_an_end():
    row = [1]
    row.append(row)
    module = with_attribute(Net(2, 2), rows={"row": row})
    module.hidden = [module]
    assert texts(module) == texts(module)


NESTED = st.recursive(
    st.none() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.tuples(inner, inner)
        | st.dictionaries(st.text(max_size=2), inner, max_size=3)
    ),
    max_leaves=8,
)


def strictly_equal(a, b):
    """Compare as ``==`` does, but with types and the order of dicts; naive."""
    if type(a) is not type(b):
        return False
    if isinstance(a, dict):
        return strictly_equal([*a.items()], [*b.items()])
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(map(strictly_equal, a, b))
    return repr(a) == repr(b)


@given(NESTED, NESTED)
def test_texts_are_equal_if_and_only_if_values_are(a, b):
    assert (texts(a) == texts(b)) == strictly_equal(a, b)
    assert texts(a) == texts(a)


def test_texts_do_not_depend_on_the_process():
    program = """
        import sys
        sys.path.insert(0, sys.argv[1])
        from tests.resume.test_fingerprint import DIFFERENT, EQUAL, texts
        from skpresto._resume.description import digest
        pairs = {**DIFFERENT, **EQUAL}
        for name, (first, second) in pairs.items():
            found = [*texts(first()).items(), *texts(second()).items()]
            print(name, digest([repr(found).encode()]))
    """
    root = __file__.rpartition("/tests/")[0]
    command = [sys.executable, "-W", "ignore", "-c", textwrap.dedent(program), root]
    runs = [
        subprocess.run(command, capture_output=True, check=True, text=True).stdout
        for _ in range(2)
    ]
    assert runs[0].count("\n") == len(DIFFERENT) + len(EQUAL)
    assert runs[0] == runs[1]


UNKNOWN = {
    "generator": lambda: (row for row in range(3)),
    "lock": threading.Lock,
    "function of ctypes": lambda: __import__("ctypes").CDLL(None).printf,
    "object that refuses": lambda: sys.stdout,
}


@pytest.mark.parametrize("make", UNKNOWN.values(), ids=UNKNOWN)
def test_what_has_no_value_is_named(make):
    found = described({"a": [make()]}, "it")
    assert found.unknown[0].startswith("it['a'][0]")


# --- fits -----------------------------------------------------------------------------


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
