"""Torch datasets in place of arrays."""

import pickle

import numpy as np
import pytest
import torch
from torch import nn
from torch.utils.data import Dataset, IterableDataset, Subset, TensorDataset

from skpresto import PrestoppingClassifier
from skpresto.stopping import HoldoutStop, ValidationStop
from tests.discovery import on_paths, quick, short_fits_warn

pytestmark = short_fits_warn


class Items(Dataset):
    """Items of any kind, and a count of how often they were read."""

    def __init__(self, *columns):
        self.columns = columns
        self.n_reads = 0

    def __len__(self):
        return len(self.columns[0])

    def __getitem__(self, row):
        self.n_reads += 1
        items = tuple(column[row] for column in self.columns)
        return items if len(items) > 1 else items[0]


def assert_fitted_alike(first, second):
    states = (clf.net_.module_.state_dict() for clf in (first, second))
    for one, other in zip(*(state.values() for state in states), strict=True):
        assert torch.equal(one, other)
    np.testing.assert_array_equal(first.safe_mask_, second.safe_mask_)
    np.testing.assert_array_equal(first.classes_, second.classes_)
    np.testing.assert_array_equal(first.suggested_labels_, second.suggested_labels_)


@on_paths()
def test_a_dataset_is_trained_on_as_its_array_is(Classifier, noisy_blobs):
    X, y, _ = noisy_blobs
    names = np.array(["cat", "dog", "eel", "fox"])[y]
    by_array = quick(Classifier).fit(X, names)
    dataset = Items(X)
    by_dataset = quick(Classifier).fit(dataset, names)
    assert_fitted_alike(by_array, by_dataset)
    assert by_dataset.n_features_in_ == 2
    assert by_dataset.input_shape_ == (2,)
    np.testing.assert_array_equal(by_dataset.predict(dataset), by_array.predict(X))
    np.testing.assert_allclose(
        by_dataset.predict_proba(dataset), by_array.predict_proba(X), rtol=1e-5
    )


class WithTargets(Items):
    """Labels at hand, as in torchvision."""

    @property
    def targets(self):
        return list(self.columns[1])


def test_labels_may_come_from_the_dataset(noisy_blobs):
    X, y, _ = noisy_blobs
    expected = quick(PrestoppingClassifier).fit(X, y)
    tensors = TensorDataset(torch.from_numpy(X), torch.from_numpy(y))
    for dataset in (
        Items(X, y),
        Items(X, list(map(str, y))),
        WithTargets(X, y),
        tensors,
    ):
        clf = quick(PrestoppingClassifier).fit(dataset)
        np.testing.assert_array_equal(clf.safe_mask_, expected.safe_mask_)
    part = Subset(tensors, range(0, 400, 2))
    clf = quick(PrestoppingClassifier).fit(part)
    np.testing.assert_array_equal(
        clf.safe_mask_, quick(PrestoppingClassifier).fit(X[::2], y[::2]).safe_mask_
    )


def test_items_are_not_read_for_labels_that_are_at_hand(noisy_blobs):
    X, y, _ = noisy_blobs
    counts = []
    for kind in (WithTargets, Items):
        dataset = kind(X, y)
        quick(PrestoppingClassifier, max_epochs=3, stop=HoldoutStop(patience=1)).fit(
            dataset
        )
        counts.append(dataset.n_reads)
    assert counts[1] - counts[0] == len(X) + 1


def test_labels_given_win_over_those_of_the_dataset(noisy_blobs):
    X, y, y_true = noisy_blobs
    clf = quick(PrestoppingClassifier).fit(Items(X, y_true), y)
    assert_fitted_alike(clf, quick(PrestoppingClassifier).fit(X, y))


def test_held_out_and_validation_rows_may_be_a_dataset(noisy_blobs):
    X, y, y_true = noisy_blobs
    validation = Items(X[:100], y_true[:100])
    clf = quick(PrestoppingClassifier, stop=ValidationStop(patience=2))
    clf.fit(Items(X), y, X_val=validation)
    other = quick(PrestoppingClassifier, stop=ValidationStop(patience=2))
    other.fit(X, y, X_val=X[:100], y_val=y_true[:100])
    assert_fitted_alike(clf, other)
    assert [r.valid_error for r in clf.history_] == [
        r.valid_error for r in other.history_
    ]


class Images(nn.Module):
    def __init__(self, n_classes):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(1, 4, 3), nn.ReLU(), nn.Flatten(), nn.LazyLinear(n_classes)
        )

    def forward(self, X):
        return self.layers(X)


def test_images_are_loaded_by_worker_processes():
    rng = np.random.RandomState(0)
    y = rng.randint(0, 2, 60)
    X = rng.normal(size=(60, 1, 8, 8)) + y[:, None, None, None]  # float64
    settings = {"max_epochs": 3, "batch_size": 16, "random_state": 0, "lr": 0.01}
    with_workers = PrestoppingClassifier(
        Images,
        stop=HoldoutStop(patience=1),
        iterator_train__num_workers=2,
        iterator_valid__num_workers=1,
        **settings,
    ).fit(Items(X, y))
    alone = PrestoppingClassifier(Images, stop=HoldoutStop(patience=1), **settings)
    alone.fit(X, y)
    assert_fitted_alike(with_workers, alone)
    assert with_workers.input_shape_ == (1, 8, 8)
    assert with_workers.n_features_in_ == 1
    assert (with_workers.predict(Items(X)) == alone.predict(X)).all()


def test_a_fitted_classifier_holds_no_dataset_and_leaves_random_states_alone(
    noisy_blobs,
):
    X, y, _ = noisy_blobs
    before = torch.get_rng_state()
    dataset = Items(np.tile(X, 100), y)
    clf = quick(PrestoppingClassifier, max_epochs=2, stop=HoldoutStop(patience=1))
    clf.fit(dataset)
    clf.predict(dataset)
    assert torch.equal(torch.get_rng_state(), before)
    assert len(pickle.dumps(clf)) < dataset.columns[0].nbytes


class Words(nn.Module):
    def __init__(self, n_classes):
        super().__init__()
        self.embedding = nn.EmbeddingBag(50, n_classes)

    def forward(self, X):
        return self.embedding(X)


def test_whole_numbers_stay_whole():
    y = np.arange(80) % 2
    drawn = np.random.RandomState(0).randint(0, 25, size=(80, 5))
    tokens = torch.from_numpy(drawn + 25 * y[:, None])
    clf = PrestoppingClassifier(Words, max_epochs=15, random_state=0, batch_size=16)
    assert clf.fit(Items(tokens), y).score(Items(tokens), y) > 0.8


class Stream(IterableDataset):
    def __iter__(self):
        yield torch.zeros(3), 0


NUMBERS, LABELS = np.zeros((6, 2), dtype=np.float32), [0, 1] * 3
BAD = {
    "a stream": (Stream(), LABELS, TypeError, "can only be iterated over"),
    "empty": (Items([]), [], ValueError, "no samples"),
    "no labels": (Items(NUMBERS), None, ValueError, "have no labels.*pass the labels"),
    "too few labels": (Items(NUMBERS), [0, 1], ValueError, "inconsistent numbers"),
    "no tensors": (Items(list("abcdef")), LABELS, TypeError, "Add a transform"),
    "one sample": (Items(NUMBERS[:1]), [0], ValueError, "at least 2 samples"),
    "no features": (Items(NUMBERS[:, 0].copy()), LABELS, TypeError, "type float32"),
    "scalars": (Items(torch.zeros(6)), LABELS, ValueError, "at least one feature"),
}


@pytest.mark.parametrize("case", BAD)
def test_what_cannot_be_trained_on_is_refused_in_words(case):
    dataset, y, error, message = BAD[case]
    with pytest.raises(error, match=message):
        quick(PrestoppingClassifier).fit(dataset, y)


def test_another_shape_in_predict_is_refused(noisy_blobs):
    X, y, _ = noisy_blobs
    clf = quick(PrestoppingClassifier, max_epochs=2, stop=HoldoutStop(patience=1))
    clf.fit(Items(X), y)
    with pytest.raises(ValueError, match=r"shape \(3,\), but fit\(\) saw.*\(2,\)"):
        clf.predict(Items(np.zeros((4, 3), dtype=np.float32)))


def test_column_names_of_an_earlier_fit_are_forgotten(noisy_blobs):
    pandas = pytest.importorskip("pandas")
    X, y, _ = noisy_blobs
    clf = quick(PrestoppingClassifier, max_epochs=2, stop=HoldoutStop(patience=1))
    clf.fit(pandas.DataFrame(X, columns=["a", "b"]), y)
    clf.fit(Items(X), y)
    assert not hasattr(clf, "feature_names_in_")
