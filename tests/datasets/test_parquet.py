"""Rows of Parquet files, read group by group."""

import multiprocessing
import pickle
import threading

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from torch.utils.data import DataLoader, Dataset, Subset

from skpresto import DefaultClassifier, PrestoppingClassifier
from skpresto._data.dataset import DatasetRows
from skpresto._data.order import ReadingOrder
from skpresto.datasets import ParquetDataset
from skpresto.datasets._parquet_files import RowGroup
from tests.discovery import CLASSIFIERS, quick

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

pytestmark = pytest.mark.filterwarnings(
    "ignore::sklearn.exceptions.ConvergenceWarning",
    "ignore::skpresto.exceptions.FallbackWarning",
    "ignore::skpresto.exceptions.SafeSetWarning",
)


@pytest.fixture
def blobs_file(noisy_blobs, tmp_path):
    """200 rows in row groups of 30, and their arrays."""
    X, y, _ = noisy_blobs
    X, y = X[:200], y[:200]
    table = pa.table({"a": X[:, 0], "kind": y, "b": X[:, 1]})
    pq.write_table(table, tmp_path / "blobs.parquet", row_group_size=30)
    return tmp_path / "blobs.parquet", X, y


@pytest.fixture
def numbers(monkeypatch):
    """The numbers of the row groups that are read."""
    read, numbers = RowGroup.features, []

    def counted(group, widths):
        numbers.append(group.number)
        return read(group, widths)

    monkeypatch.setattr(RowGroup, "features", counted)
    return numbers


def test_rows_are_those_of_the_file(blobs_file):
    path, X, y = blobs_file
    data = ParquetDataset(path, label="kind")
    assert isinstance(data, Dataset)
    assert (len(data), data.columns, data.n_features) == (200, ["a", "b"], 2)
    np.testing.assert_array_equal(data.targets, y)
    for row in (0, 29, 30, 199, -1):
        features, label = data[row]
        np.testing.assert_array_equal(features.numpy(), X[row])
        assert label == y[row]
    rows = [199, 3, 3, 75]
    features = torch.stack([item[0] for item in data.__getitems__(rows)])
    np.testing.assert_array_equal(features.numpy(), X[rows])
    assert data.__getitems__([]) == []
    assert (
        repr(data)
        == "ParquetDataset(200 rows in 7 row groups, 2 features, label='kind')"
    )


def test_without_a_label_items_are_features(blobs_file):
    path, X, _ = blobs_file
    data = ParquetDataset(str(path), columns=("b",))
    assert data.targets is None
    np.testing.assert_array_equal(data[7].numpy(), X[7, 1:])
    assert repr(data) == "ParquetDataset(200 rows in 7 row groups, 1 features)"


def test_items_do_not_share_memory_with_the_cache(blobs_file):
    path, X, _ = blobs_file
    data = ParquetDataset(path, columns=["a", "b"])
    data[0].zero_()
    np.testing.assert_array_equal(data[0].numpy(), X[0])


def test_several_files_and_folders_follow_each_other(blobs_file, tmp_path):
    path, X, y = blobs_file
    folder = tmp_path / "parts"
    folder.mkdir()
    for start in (0, 100):
        some = slice(start, start + 100)
        part = pa.table({"kind": y[some], "b": X[some, 1], "a": X[some, 0]})
        pq.write_table(part, folder / f"part-{start:03d}.parquet", row_group_size=40)
    for name in ("part-000", "part-050"):
        pq.write_table(part.slice(0, 0), folder / f"{name}-empty.parquet")
    (folder / "notes.txt").write_text("not read")
    whole = ParquetDataset(folder, label="kind", columns=["a", "b"])
    np.testing.assert_array_equal(whole.targets, y)
    np.testing.assert_array_equal(whole[123][0].numpy(), X[123])
    both = ParquetDataset([path, folder], label="kind", columns=["a", "b"])
    assert len(both) == 400
    np.testing.assert_array_equal(both[323][0].numpy(), X[123])


@pytest.mark.parametrize("classifier", CLASSIFIERS)
def test_a_fit_from_a_file_that_is_kept_equals_one_from_an_array(
    classifier, blobs_file
):
    path, X, y = blobs_file
    clf = quick(classifier, max_epochs=3, q=2)
    expected = clone(clf).fit(X, y).predict_proba(X)
    data = ParquetDataset(path, label="kind")
    np.testing.assert_array_equal(clf.fit(data).predict_proba(data), expected)


def test_a_fit_reads_each_row_group_once_per_epoch(blobs_file, numbers):
    path, X, y = blobs_file
    data = ParquetDataset(path, label="kind", cache_bytes=2 * 30 * 2 * 4)
    assert data.storage_blocks()[1] == 2
    clf = quick(DefaultClassifier, max_epochs=4, batch_size=16).fit(data)
    # The first rows are read to try the network out, before training.
    assert len(numbers) <= 4 * 7 + 1
    assert set(numbers) == set(range(7))
    assert data._features_of.cache_info().currsize <= 2
    assert clf.score(X, y) > 0.5


def test_a_prediction_reads_each_row_group_once(blobs_file, numbers):
    path, X, y = blobs_file
    clf = quick(DefaultClassifier, max_epochs=2).fit(X, y)
    data = ParquetDataset(path, label="kind", cache_bytes=0)
    np.testing.assert_array_equal(clf.predict_proba(data), clf.predict_proba(X))
    assert numbers == list(range(7))


def test_validation_data_can_be_in_a_file(blobs_file):
    path, X, y = blobs_file
    data = ParquetDataset(path, label="kind")
    clf = quick(PrestoppingClassifier, max_epochs=3)
    expected = clone(clf).fit(X, y, X_val=X, y_val=y)
    clf.fit(data, X_val=data)
    assert [r.valid_error for r in clf.history_] == [
        r.valid_error for r in expected.history_
    ]


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_worker_processes_read_for_themselves(method, blobs_file):
    path, X, _ = blobs_file
    data = ParquetDataset(path, label="kind", cache_bytes=1000)
    _ = data[0]
    context = multiprocessing.get_context(method)
    loader = DataLoader(
        data, batch_size=64, num_workers=1, multiprocessing_context=context
    )
    read = torch.cat([features for features, _ in loader])
    np.testing.assert_array_equal(read.numpy(), X)


def test_a_fit_with_workers_equals_one_without(blobs_file):
    path, X, _ = blobs_file
    data = ParquetDataset(path, label="kind")
    clf = quick(DefaultClassifier, max_epochs=2)
    expected = clone(clf).fit(data).predict_proba(X)
    clf.set_params(iterator_train__num_workers=1).fit(data)
    np.testing.assert_array_equal(clf.predict_proba(X), expected)


def test_a_pickled_dataset_has_no_rows_in_it(blobs_file):
    path, X, _ = blobs_file
    data = ParquetDataset(path, label="kind")
    before = len(pickle.dumps(data))
    data.__getitems__(range(200))
    assert len(pickle.dumps(data)) < before + 2 * 200 * 8
    again = pickle.loads(pickle.dumps(data))
    np.testing.assert_array_equal(again[60][0].numpy(), X[60])


def test_threads_share_a_cache(blobs_file):
    path, X, _ = blobs_file
    data = ParquetDataset(path, columns=["a", "b"], cache_bytes=500)
    failed = []

    def read(seed):
        rows = np.random.RandomState(seed).randint(200, size=100).tolist()
        failed.extend(r for r in rows if not np.array_equal(data[r].numpy(), X[r]))

    threads = [threading.Thread(target=read, args=(seed,)) for seed in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []


COLUMNS = [
    ("fixed-size list", lambda X: pa.FixedSizeListArray.from_arrays(X.ravel(), 12)),
    ("list", lambda X: pa.array(X.tolist(), pa.list_(pa.float64()))),
    ("large list", lambda X: pa.array(X.tolist(), pa.large_list(pa.float32()))),
]


@pytest.mark.parametrize(("kind", "make"), COLUMNS, ids=[kind for kind, _ in COLUMNS])
def test_lists_are_images_or_embeddings(kind, make, tmp_path):
    X = np.arange(60, dtype=np.float32).reshape(5, 12)
    table = pa.table({"pixels": make(X), "size": pa.array([1, 2, 3, 4, 5], pa.int8())})
    pq.write_table(table, tmp_path / "images.parquet", row_group_size=2)
    images = ParquetDataset(
        tmp_path / "images.parquet", columns=["pixels"], shape=(3, 2, 2)
    )
    assert images[4].shape == (3, 2, 2)
    np.testing.assert_array_equal(images[4].numpy().ravel(), X[4])
    both = ParquetDataset(tmp_path / "images.parquet")
    np.testing.assert_array_equal(both[1].numpy(), [*X[1], 2])


LABELS = [
    pa.array(["cat", "horse", "cat"]),
    pa.array(["cat", "horse", "cat"], pa.large_string()),
    pa.array(["cat", "horse", "cat"], pa.string_view()),
    pa.array(["cat", "horse", "cat"]).dictionary_encode(),
    pa.array([3, -1, 3], pa.int16()),
    pa.array([True, False, True]),
]


@pytest.mark.parametrize("labels", LABELS, ids=lambda labels: str(labels.type)[:20])
def test_labels_are_text_or_numbers(labels, tmp_path):
    table = pa.table({"x": [1.0, 2.0, 3.0], "label": labels})
    try:
        pq.write_table(table, tmp_path / "f.parquet", row_group_size=2)
    except pa.ArrowNotImplementedError:
        pytest.skip("this version of pyarrow writes no string views")
    data = ParquetDataset(tmp_path / "f.parquet", label="label")
    assert data.targets.tolist() == labels.to_pylist()
    assert data.targets.dtype.kind in "Uib"


# --- the order of rows ------------------------------------------------------------


@given(
    sizes=st.lists(st.integers(1, 9), min_size=1, max_size=12),
    n_kept=st.integers(1, 14),
    seed=st.integers(0, 1000),
)
def test_an_order_visits_every_row_once_and_few_blocks_at_a_time(sizes, n_kept, seed):
    blocks = torch.repeat_interleave(torch.arange(len(sizes)), torch.tensor(sizes))
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        order = ReadingOrder(blocks, n_kept).draw()
    assert sorted(order.tolist()) == list(range(len(blocks)))
    visited = blocks[order].tolist()
    kept, n_reads = [], 0
    for block in visited:  # a cache that forgets what was used longest ago
        if block not in kept:
            n_reads += 1
            kept = kept[-n_kept + 1 :] if n_kept > 1 else []
        else:
            kept.remove(block)
        kept.append(block)
    assert n_reads == len(sizes)


def test_rows_of_different_blocks_are_mixed():
    blocks = torch.arange(40) // 4
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        orders = [ReadingOrder(blocks, 3).draw() for _ in range(200)]
    first = torch.stack([order[0] for order in orders])
    assert len(first.unique()) > 35
    assert np.mean([len(blocks[order[:6]].unique()) for order in orders]) > 2


def test_a_part_of_a_file_is_shuffled_within_its_blocks(blobs_file):
    path, _, _ = blobs_file
    data = ParquetDataset(path, label="kind", cache_bytes=1)
    part = Subset(data, range(199, 99, -1))
    order = DatasetRows(part).reading_order(torch.arange(0, 100, 2))
    assert order.blocks.tolist() == [row // 30 for row in range(199, 99, -2)]
    assert order.n_kept == 1
    assert DatasetRows(Subset(part, [5])).reading_order(None).blocks.tolist() == [6]
    clf = quick(DefaultClassifier, max_epochs=1).fit(part)
    assert clf.safe_mask_.shape == (100,)
