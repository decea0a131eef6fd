"""Modules with several inputs: X as a dict, a tuple, or a Dataset of either."""

import pickle
from collections import UserDict

import numpy as np
import pytest
import torch
from scipy import sparse
from sklearn.model_selection import GridSearchCV
from skorch.callbacks import EpochScoring
from skorch.helper import SliceDict
from torch import nn
from torch.utils.data import Dataset, Subset, TensorDataset

from skpresto import DefaultClassifier, PrestoppingClassifier
from skpresto.stopping import HoldoutStop, ValidationStop
from tests.discovery import CLASSIFIERS, FEWER_RUNS, on_paths, short_fits_warn

pytestmark = short_fits_warn

N_ROWS = 90
rng = np.random.RandomState(0)
y = np.arange(N_ROWS) % 3
NUMBERS = (rng.normal(size=(N_ROWS, 4)) + y[:, None]).astype(np.float32)
WORDS = rng.randint(0, 3, size=(N_ROWS, 5)) * 3 + y[:, None]
PARTS = {"numbers": NUMBERS, "words": WORDS}


class Two(nn.Module):
    """A network for numbers and words."""

    def __init__(self, n_classes, width=8):
        super().__init__()
        self.linear = nn.Linear(4, width)
        self.embedding = nn.EmbeddingBag(9, width)
        self.last = nn.Linear(width, n_classes)

    def forward(self, numbers, words):
        return self.last(torch.relu(self.linear(numbers) + self.embedding(words)))


class Pair(Two):
    """The same, with both as one argument, as skorch passes a tuple."""

    def forward(self, X):
        return super().forward(*X)


class Items(Dataset):
    """Items that a function makes of a row number."""

    def __init__(self, make):
        self.make = make

    def __len__(self):
        return N_ROWS

    def __getitem__(self, row):
        return self.make(row)


def quick(Classifier, module=Two, **params):
    defaults = {"max_epochs": 3, "batch_size": 32, "random_state": 0, "q": 2}
    if "stop" in Classifier(module).get_params():
        defaults["stop"] = HoldoutStop(patience=1)
    fewer = {**FEWER_RUNS.get(Classifier.__name__, {}), "q": 2}
    return Classifier(module, **{**defaults, **fewer, **params})


def tensors():
    return torch.from_numpy(NUMBERS), torch.from_numpy(WORDS), torch.from_numpy(y)


KINDS = {
    "tensors": {"numbers": tensors()[0], "words": tensors()[1]},
    "a tensor with gradients": {
        "numbers": torch.tensor(NUMBERS, requires_grad=True),
        "words": tensors()[1],
    },
    "float64": {"numbers": NUMBERS.astype(np.float64), "words": WORDS},
    "another order": {"words": WORDS, "numbers": NUMBERS},
    "lists": {"numbers": NUMBERS.tolist(), "words": WORDS.tolist()},
    "UserDict": UserDict(PARTS),
    "SliceDict": SliceDict(**PARTS),
    "a sparse part": {"numbers": sparse.csc_array(NUMBERS), "words": WORDS},
    "small integers": {"numbers": NUMBERS, "words": WORDS.astype(np.int32)},
    "unsigned integers": {"numbers": NUMBERS, "words": WORDS.astype(np.uint16)},
    "a tuple": (NUMBERS, WORDS),
    "a list": [NUMBERS, WORDS],
    "TensorDataset": TensorDataset(*tensors()),
    "part of a TensorDataset": Subset(TensorDataset(*tensors()), range(N_ROWS)),
    "Dataset of dicts": Items(lambda i: {k: v[i] for k, v in PARTS.items()}),
    "Dataset of dicts and labels": Items(
        lambda i: ({k: v[i] for k, v in PARTS.items()}, y[i])
    ),
    "Dataset of tuples and labels": Items(lambda i: ((NUMBERS[i], WORDS[i]), y[i])),
}


def assert_same_fit(first, second):
    states = (clf.net_.module_.state_dict() for clf in (first, second))
    for one, other in zip(*(state.values() for state in states), strict=True):
        assert torch.equal(one, other)
    np.testing.assert_array_equal(first.safe_mask_, second.safe_mask_)
    np.testing.assert_array_equal(first.label_quality_, second.label_quality_)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_parts_is_trained_on_alike(kind):
    expected = quick(PrestoppingClassifier).fit(PARTS, y)
    clf = quick(PrestoppingClassifier).fit(KINDS[kind], y)
    assert_same_fit(clf, expected)
    np.testing.assert_array_equal(
        clf.predict_proba(KINDS[kind]), expected.predict_proba(PARTS)
    )
    assert not hasattr(clf, "n_features_in_")
    assert clf.input_shape_ in [{"numbers": (4,), "words": (5,)}, ((4,), (5,))]


@on_paths()
def test_every_classifier_takes_several_parts(Classifier):
    by_dict = quick(Classifier).fit(PARTS, y)
    by_tuple = quick(Classifier, Pair).fit((NUMBERS, WORDS), y)
    by_dataset = quick(Classifier).fit(TensorDataset(*tensors()))
    assert_same_fit(by_tuple, by_dict)
    assert_same_fit(by_dataset, by_dict)
    assert by_dict.predict(PARTS).shape == (N_ROWS,)
    np.testing.assert_array_equal(
        by_tuple.predict_proba((NUMBERS, WORDS)), by_dict.predict_proba(PARTS)
    )
    again = pickle.loads(pickle.dumps(by_dict))
    np.testing.assert_array_equal(again.predict(PARTS), by_dict.predict(PARTS))


def test_labels_may_come_from_a_dataset_of_parts():
    expected = quick(PrestoppingClassifier).fit(PARTS, y)
    for kind in ("part of a TensorDataset", "Dataset of tuples and labels"):
        assert_same_fit(quick(PrestoppingClassifier).fit(KINDS[kind]), expected)


def test_labels_are_not_needed_to_predict_a_tensor_dataset():
    clf = quick(DefaultClassifier).fit(TensorDataset(*tensors()))
    unlabeled = TensorDataset(*tensors()[:2])
    np.testing.assert_array_equal(clf.predict(unlabeled), clf.predict((NUMBERS, WORDS)))


@pytest.mark.parametrize("Classifier", [PrestoppingClassifier, CLASSIFIERS[-1]])
def test_probabilities_of_a_row_do_not_depend_on_the_others(Classifier):
    clf = quick(Classifier).fit(PARTS, y)
    expected = clf.predict_proba(PARTS)
    order = np.random.RandomState(1).permutation(N_ROWS)
    shuffled = {name: part[order] for name, part in PARTS.items()}
    np.testing.assert_array_equal(clf.predict_proba(shuffled), expected[order])
    alone = {name: part[7:8] for name, part in PARTS.items()}
    np.testing.assert_array_equal(clf.predict_proba(alone), expected[7:8])


class Types(Two):
    seen: set = set()

    def forward(self, numbers, words):
        self.seen.update({(numbers.dtype, words.dtype)})
        return super().forward(numbers, words)


def test_integers_stay_integers_and_floats_become_float32(tmp_path):
    np.save(tmp_path / "words.npy", WORDS)
    mapped = np.load(tmp_path / "words.npy", mmap_mode="r")
    X = {"numbers": NUMBERS.astype(np.float64), "words": mapped}
    clf = quick(PrestoppingClassifier, Types).fit(X, y, X_val=X, y_val=y)
    clf.predict_proba(X)
    assert Types.seen == {(torch.float32, torch.int64)}
    assert_same_fit(clf, quick(PrestoppingClassifier).fit(PARTS, y))


@pytest.mark.parametrize("kind", ["dict", "tuple"])
def test_validation_data_and_callbacks_that_score_them(kind):
    X = PARTS if kind == "dict" else (NUMBERS, WORDS)
    clf = quick(
        PrestoppingClassifier,
        stop=ValidationStop(patience=1),
        callbacks=[EpochScoring("accuracy", lower_is_better=False)],
        module=Two if kind == "dict" else Pair,
    ).fit(X, y, X_val=X, y_val=y)
    accuracy = clf.net_.history[:, "accuracy"]
    assert [1 - r.valid_error for r in clf.history_] == pytest.approx(accuracy)


def test_a_search_over_parts():
    search = GridSearchCV(quick(DefaultClassifier), {"module__width": [4, 8]}, cv=2)
    assert search.fit(SliceDict(**PARTS), y).predict(PARTS).shape == (N_ROWS,)


def test_a_list_of_rows_is_still_a_table(blobs):
    X, labels = blobs[0][:40], blobs[1][:40]
    params = {"max_epochs": 2, "random_state": 0}
    clf = DefaultClassifier(**params).fit(list(X), labels)
    assert clf.n_features_in_ == 2
    expected = DefaultClassifier(**params).fit(X, labels).predict_proba(X)
    np.testing.assert_array_equal(clf.predict_proba(tuple(X)), expected)


def test_numbers_beyond_float32_in_a_memory_map_are_refused(tmp_path):
    np.save(tmp_path / "X.npy", NUMBERS.astype(np.float64) * 1e60)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    with pytest.raises(ValueError, match=r"Input X\['numbers'\].*too large for dtype"):
        quick(DefaultClassifier).fit({**PARTS, "numbers": mapped}, y)


def test_a_table_may_be_a_tensor(blobs):
    X, labels = blobs
    params = {"max_epochs": 1, "random_state": 0}
    expected = DefaultClassifier(**params).fit(X, labels).predict(X)
    for tensor in (torch.tensor(X, requires_grad=True), torch.tensor(X).double()):
        clf = DefaultClassifier(**params).fit(tensor, labels)
        np.testing.assert_array_equal(clf.predict(tensor), expected)
    half = DefaultClassifier(**params).fit(torch.tensor(X).bfloat16(), labels)
    assert half.predict(torch.tensor(X).bfloat16()).shape == labels.shape
    with pytest.raises(TypeError, match="X is a sparse tensor of torch.*scipy"):
        half.predict(torch.tensor(X).to_sparse())


def test_one_part_is_several_too():
    class One(nn.Linear):
        def forward(self, numbers):
            return super().forward(numbers)

    X = {"numbers": NUMBERS}
    clf = quick(DefaultClassifier, One, module__in_features=4).fit(X, y)
    assert clf.predict(X).shape == (N_ROWS,)


class Output:
    def __init__(self, logits):
        self.logits = logits


class WithLogits(Two):
    def forward(self, numbers, words):
        return Output(super().forward(numbers, words))


class WithHidden(Two):
    def forward(self, numbers, words):
        logits = super().forward(numbers, words)
        return logits, logits.exp()


@on_paths("one stage", "two networks", "folds")
@pytest.mark.parametrize("module", [WithLogits, WithHidden])
def test_logits_among_other_outputs(Classifier, module):
    clf = quick(Classifier, module).fit(PARTS, y)
    expected = quick(Classifier).fit(PARTS, y).predict_proba(PARTS)
    np.testing.assert_array_equal(clf.predict_proba(PARTS), expected)


class AsksForFeatures(Two):
    def __init__(self, n_classes, n_features):
        super().__init__(n_classes)


class AsksForShape(Two):
    def __init__(self, n_classes, input_shape):
        super().__init__(n_classes)
        assert input_shape == {"numbers": (4,), "words": (5,)}


def test_sizes_that_a_module_asks_for():
    quick(DefaultClassifier, AsksForShape).fit(PARTS, y)
    quick(DefaultClassifier, AsksForFeatures, module__n_features=4).fit(PARTS, y)
    with pytest.raises(ValueError, match="its n_features.*Pass module__n_features"):
        quick(DefaultClassifier, AsksForFeatures).fit(PARTS, y)


NAN = np.where(NUMBERS > 1, np.nan, NUMBERS)
RAGGED = [[1] * (1 + i % 3) for i in range(N_ROWS)]
BAD = {
    "unequal lengths": (
        {**PARTS, "words": WORDS[:-1]},
        r"as many rows each, got {'numbers': 90, 'words': 89}",
    ),
    "unequal lengths in a tuple": (
        (NUMBERS, WORDS[:-1]),
        r"as many rows each, got {0: 90, 1: 89}",
    ),
    "too few": (
        {name: part[:80] for name, part in PARTS.items()},
        r"inconsistent numbers of samples: \[80, 90\]",
    ),
    "a missing key": (
        {"numbers": NUMBERS},
        r"missing.*'words'.*keys are \['numbers'\]",
    ),
    "an unknown key": ({**PARTS, "more": WORDS}, "unexpected keyword argument 'more'"),
    "NaN": ({**PARTS, "numbers": NAN}, r"Input X\['numbers'\] contains NaN"),
    "NaN in a tuple": ((NAN, WORDS), r"Input X\[0\] contains NaN"),
    "text": ({**PARTS, "words": WORDS.astype(str)}, r"X\['words'\] must be numbers"),
    "objects": (
        {**PARTS, "words": WORDS.astype(object)},
        r"X\['words'\] must be numbers, got dtype object",
    ),
    "ragged": ({**PARTS, "words": RAGGED}, r"X\['words'\] has rows of different len"),
    "nested": ({**PARTS, "words": PARTS}, r"X\['words'\] must be an array.*a dict"),
    "beyond float32": (
        {**PARTS, "numbers": NUMBERS.astype(np.float64) * 1e300},
        r"X\['numbers'\] contains infinity",
    ),
    "a sparse tensor": (
        {**PARTS, "numbers": torch.from_numpy(NUMBERS).to_sparse()},
        r"X\['numbers'\] is a sparse tensor of torch",
    ),
    "numbers as keys": ({0: NUMBERS, 1: WORDS}, r"got the keys \[0, 1\]"),
    "empty": ({}, r"got the keys \[\]"),
    "no array": (
        {**PARTS, "words": 3},
        r"X\['words'\] must be an array.*got a int",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_parts_that_cannot_be_trained_on_are_refused(case):
    X, message = BAD[case]
    clf = quick(PrestoppingClassifier)
    with pytest.raises((ValueError, TypeError), match=message):
        clf.fit(X, y)
    assert not hasattr(clf, "classes_")


@pytest.mark.parametrize("X", [PARTS, TensorDataset(*tensors())])
def test_several_parts_need_a_module(X):
    with pytest.raises(ValueError, match="built-in network for tables.*Pass a module"):
        PrestoppingClassifier().fit(X, y)


def test_several_parts_need_labels():
    with pytest.raises(ValueError, match="requires y to be passed"):
        quick(PrestoppingClassifier).fit(PARTS)


@pytest.mark.parametrize(
    "X",
    [
        {"numbers": NUMBERS},
        {**PARTS, "words": WORDS[:, :3]},
        (NUMBERS, WORDS),
        NUMBERS,
        TensorDataset(*tensors()),
    ],
)
def test_other_parts_at_predict_or_for_validation_are_refused(X):
    clf = quick(DefaultClassifier).fit(PARTS, y)
    message = r"fit\(\) saw samples of shape .*'words': \(5,\)"
    with pytest.raises(ValueError, match=message):
        clf.predict(X)
    with pytest.raises(ValueError, match=message):
        clf.fit(PARTS, y, X_val=X, y_val=y)


def test_parts_for_a_classifier_fitted_on_a_table_are_refused(blobs):
    X, labels = blobs
    clf = DefaultClassifier(max_epochs=1).fit(X, labels)
    with pytest.raises(ValueError, match=r"shape \{'X': \(2,\)\}, but fit"):
        clf.predict({"X": X})


def test_items_of_a_dataset_without_tensors_are_refused():
    dataset = Items(lambda i: ({"numbers": NUMBERS[i], "words": "red"}, y[i]))
    with pytest.raises(TypeError, match="features of item 0 are of type str"):
        quick(DefaultClassifier).fit(dataset)
