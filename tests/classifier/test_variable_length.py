"""Sequences: of one length as an array, of different lengths with a collate_fn."""

import pickle

import numpy as np
import pytest
import torch
from skorch.callbacks import EpochScoring
from torch import nn
from torch.nn.utils.rnn import pack_sequence, pad_sequence
from torch.utils.data import Dataset

from skpresto import DefaultClassifier, PrestoppingClassifier
from skpresto.stopping import HoldoutStop, ValidationStop
from tests.discovery import FEWER_RUNS, on_paths, short_fits_warn

pytestmark = short_fits_warn


class Sequences(Dataset):
    """Sequences of words, whose class is told by which words they contain."""

    def __init__(self, n_rows=60, longest=9, seed=0, as_list=False):
        rng = np.random.RandomState(seed)
        self.labels = rng.randint(0, 2, n_rows)
        lengths = rng.randint(min(2, longest), longest + 1, n_rows)
        first = 1 + 5 * self.labels
        words = [rng.randint(0, 5, n) + k for n, k in zip(lengths, first, strict=True)]
        self.words = [w.tolist() if as_list else torch.tensor(w) for w in words]

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, row):
        return self.words[row], int(self.labels[row])


def pad(pairs):
    """Return a padded batch and labels, as in plain PyTorch."""
    words, labels = zip(*pairs, strict=True)
    words = pad_sequence([torch.as_tensor(w) for w in words], batch_first=True)
    return words, torch.stack(labels)


def pad_in_dict(pairs):
    words, labels = pad(pairs)
    return {"words": words, "is_word": words > 0}, labels


def pad_time_first(pairs):
    words, labels = pad(pairs)
    return words.T, labels


def pack(pairs):
    words, labels = zip(*pairs, strict=True)
    return pack_sequence(words, enforce_sorted=False), torch.tensor(labels)


def as_list(pairs):
    return [words for words, _ in pairs], [label for _, label in pairs]


class MeanWord(nn.Module):
    """Average the embeddings of the words, without the padding."""

    def __init__(self, n_classes):
        super().__init__()
        self.embedding = nn.Embedding(11, 6, padding_idx=0)
        self.last = nn.Linear(6, n_classes)

    def forward(self, words, is_word=None):
        is_word = words > 0 if is_word is None else is_word
        total = self.embedding(words).sum(dim=1)
        return self.last(total / is_word.sum(dim=1, keepdim=True))


class TimeFirst(MeanWord):
    def forward(self, words):
        return super().forward(words.T)


class FromList(MeanWord):
    def forward(self, words):
        return super().forward(pad_sequence(list(words), batch_first=True))


class FromPacked(MeanWord):
    def forward(self, packed):
        words, _ = nn.utils.rnn.pad_packed_sequence(packed, batch_first=True)
        return super().forward(words)


def quick(Classifier, module=MeanWord, collate_fn=pad, **params):
    defaults = {"max_epochs": 4, "batch_size": 16, "random_state": 0, "lr": 0.5}
    fewer = {**FEWER_RUNS.get(Classifier.__name__, {}), "q": 2}
    both = {
        "iterator_train__collate_fn": collate_fn,
        "iterator_valid__collate_fn": collate_fn,
    }
    return Classifier(module, **{**defaults, **fewer, **both, **params})


@on_paths()
def test_sequences_of_different_length_under_the_default_rule(Classifier):
    dataset = Sequences()
    clf = quick(Classifier, max_epochs=8).fit(dataset)
    assert clf.score(Sequences(30, seed=1), Sequences(30, seed=1).labels) > 0.8
    assert clf.safe_mask_.shape == clf.label_quality_.shape == (60,)
    assert clf.input_shape_ is None
    assert not hasattr(clf, "n_features_in_")
    again = pickle.loads(pickle.dumps(clf))
    np.testing.assert_array_equal(again.predict(dataset), clf.predict(dataset))


def test_held_out_rows_and_stop_rules_use_the_function():
    clf = quick(PrestoppingClassifier, stop=HoldoutStop(patience=2)).fit(Sequences())
    assert all(0 <= r.holdout_error <= 1 for r in clf.history_ if r.stage == "phase 1")
    clf = quick(
        PrestoppingClassifier,
        stop=ValidationStop(patience=2),
        callbacks=[EpochScoring("accuracy", lower_is_better=False)],
    )
    clf.fit(Sequences(), X_val=Sequences(30, seed=1))
    assert all(0 <= r.valid_error <= 1 for r in clf.history_)


@pytest.mark.parametrize(
    ("module", "collate_fn"),
    [
        (MeanWord, pad_in_dict),
        (TimeFirst, pad_time_first),
        (FromPacked, pack),
        (FromList, as_list),
    ],
)
def test_what_the_function_returns_is_passed_to_the_module(module, collate_fn):
    dataset = Sequences(batch := 16 * 3)  # time may be as long as a batch
    expected = quick(PrestoppingClassifier).fit(dataset)
    clf = quick(PrestoppingClassifier, module, collate_fn).fit(dataset)
    np.testing.assert_array_equal(clf.safe_mask_, expected.safe_mask_)
    np.testing.assert_allclose(
        clf.predict_proba(dataset), expected.predict_proba(dataset), rtol=1e-4
    )
    assert len(expected.predict(dataset)) == batch


def test_items_are_given_as_they_are_in_the_dataset():
    kinds = set()

    def collate(pairs):
        kinds.update((type(words), type(label)) for words, label in pairs)
        return pad(pairs)

    expected = quick(DefaultClassifier).fit(Sequences())
    dataset = Sequences(as_list=True)
    clf = quick(DefaultClassifier, collate_fn=collate).fit(dataset)
    assert kinds == {(list, torch.Tensor)}
    np.testing.assert_array_equal(
        clf.predict_proba(dataset), expected.predict_proba(Sequences())
    )


def test_labels_may_be_names_and_given_separately():
    dataset = Sequences()
    names = np.array(["no", "yes"])[dataset.labels]
    clf = quick(PrestoppingClassifier, max_epochs=8).fit(dataset, names)
    assert set(clf.predict(dataset)) <= {"no", "yes"}
    assert clf.score(dataset, names) > 0.8


def test_worker_processes_collate():
    dataset = Sequences()
    workers = {"iterator_train__num_workers": 1, "iterator_valid__num_workers": 1}
    clf = quick(DefaultClassifier, max_epochs=1, **workers).fit(dataset)
    expected = quick(DefaultClassifier, max_epochs=1).fit(dataset)
    np.testing.assert_array_equal(
        clf.predict_proba(dataset), expected.predict_proba(dataset)
    )


def test_a_sampler_and_a_function_together():
    dataset = Sequences()
    sampler = torch.utils.data.SequentialSampler(dataset)
    clf = quick(DefaultClassifier, iterator_train__sampler=sampler).fit(dataset)
    assert clf.predict(dataset).shape == (60,)


def test_a_function_for_the_rows_of_an_array(blobs):
    X, y = blobs
    params = {"max_epochs": 2, "random_state": 0}
    collate_fn = torch.utils.data.default_collate
    clf = DefaultClassifier(iterator_train__collate_fn=collate_fn, **params).fit(X, y)
    expected = DefaultClassifier(**params).fit(X, y)
    np.testing.assert_array_equal(clf.predict_proba(X), expected.predict_proba(X))


def by_length(pairs):
    return pad(sorted(pairs, key=lambda pair: len(pair[0])))


@pytest.mark.parametrize("name", ["iterator_train", "iterator_valid"])
def test_a_function_that_sorts_samples_is_refused(name):
    clf = quick(PrestoppingClassifier, **{f"{name}__collate_fn": by_length})
    with pytest.raises(ValueError, match=f"{name}__collate_fn must.*in the same order"):
        clf.fit(Sequences())


@pytest.mark.parametrize("missing", ["iterator_train", "iterator_valid"])
def test_both_functions_are_needed(missing):
    clf = quick(PrestoppingClassifier, **{f"{missing}__collate_fn": None})
    message = "differ in shape.*iterator_train__collate_fn and iterator_valid__collate"
    with pytest.raises(ValueError, match=message):
        clf.fit(Sequences())


def test_sequences_of_different_length_need_a_module():
    with pytest.raises(ValueError, match="samples of different shapes. Pass a module"):
        quick(PrestoppingClassifier, None).fit(Sequences())


class Recurrent(nn.Module):
    def __init__(self, input_shape, n_classes):
        super().__init__()
        self.layer = nn.GRU(input_shape[1], 8, batch_first=True)
        self.last = nn.Linear(8, n_classes)

    def forward(self, X):
        return self.last(self.layer(X)[0][:, -1])


@on_paths("one stage", "two networks", "folds")
def test_sequences_of_one_length_are_a_three_dimensional_array(Classifier):
    rng = np.random.RandomState(0)
    y = rng.randint(0, 2, 60)
    X = rng.normal(size=(60, 5, 3)) + 2 * y[:, None, None]
    clf = Classifier(
        Recurrent,
        max_epochs=8,
        batch_size=16,
        random_state=0,
        **FEWER_RUNS.get(Classifier.__name__, {}),
    ).fit(X, y)
    assert clf.score(X, y) > 0.9
    assert clf.input_shape_ == (5, 3)
    assert clf.predict_proba(X[:1]).shape == (1, 2)
    with pytest.raises(ValueError, match=r"samples of shape \(5, 2\), but fit"):
        clf.predict(X[:, :, :2])
