"""Pages of large memory maps are given back, and nothing of them is lost."""

import mmap
import os
import pickle

import numpy as np
import pytest
import torch

from skpresto import DefaultClassifier
from skpresto._engine import mapped_pages
from skpresto._engine.mapped_pages import MappedPages
from skpresto._engine.sample_rows import ArrayRows
from tests.discovery import quick

can_advise = pytest.mark.skipif(
    not hasattr(mmap, "MADV_DONTNEED"), reason="pages cannot be given back"
)


@pytest.fixture
def small_limits(monkeypatch):
    """Let every map count as large, and give pages back after each few rows."""
    monkeypatch.setattr(mapped_pages, "_SMALL_MAP", 0)
    monkeypatch.setattr(mapped_pages, "_RESIDENT", 1 << 18)


def make_map(path, mode, X):
    mapped = np.memmap(path, np.float32, "w+", shape=X.shape)
    mapped[:] = X
    mapped.flush()
    return mapped if mode == "w+" else np.memmap(path, np.float32, mode, shape=X.shape)


@pytest.fixture
def X():
    return np.random.RandomState(0).normal(size=(600, 200)).astype(np.float32)


@can_advise
@pytest.mark.parametrize("mode", ["r", "r+", "w+", "c"])
@pytest.mark.usefixtures("small_limits")
def test_rows_are_the_same_and_changes_are_kept(mode, X, tmp_path):
    mapped = make_map(tmp_path / "X.dat", mode, X)
    if mode != "r":
        mapped[5] = X[5] = 7.0
    rows = ArrayRows(np.asarray(mapped))  # as scikit-learn's validation returns it
    assert rows._pages._is_large == (mode != "c")
    for _ in range(3):
        order = torch.randperm(600)
        for index in order.split(50):
            np.testing.assert_array_equal(rows.take(index).numpy(), X[index.numpy()])
        np.testing.assert_array_equal(rows.slice(0, 600).numpy(), X)


def resident(path):
    """Return how many bytes of a file are resident in this process."""
    size, is_this = 0, False
    with open("/proc/self/smaps") as lines:
        for line in lines:
            if "-" in line.split()[0] and ":" not in line.split()[0]:
                is_this = line.rstrip().endswith(str(path))
            elif is_this and line.startswith("Rss:"):
                size += int(line.split()[1]) * 1024
    return size


@can_advise
@pytest.mark.skipif(not os.path.exists("/proc/self/smaps"), reason="needs /proc")
@pytest.mark.usefixtures("small_limits")
def test_few_pages_stay_resident(tmp_path):
    path = tmp_path / "X.dat"
    with open(path, "wb") as file:
        file.truncate(1 << 24)
    mapped = np.memmap(path, np.float32, "r", shape=(4096, 1024))
    plain = np.memmap(path, np.float32, "c", shape=(4096, 1024))
    for start in range(0, 4096, 16):
        ArrayRows(plain).slice(start, start + 16)
    assert resident(path) >= 1 << 24
    del plain
    rows = ArrayRows(mapped)
    for start in range(0, 4096, 16):
        rows.slice(start, start + 16)
    assert resident(path) < 1 << 22


@pytest.mark.usefixtures("small_limits")
def test_a_fit_from_a_large_map_equals_one_from_an_array(noisy_blobs, tmp_path):
    X, y, _ = noisy_blobs
    mapped = make_map(tmp_path / "X.dat", "r", X)
    expected = quick(DefaultClassifier, max_epochs=2).fit(X, y).predict_proba(X)
    clf = quick(DefaultClassifier, max_epochs=2).fit(mapped, y)
    np.testing.assert_array_equal(clf.predict_proba(mapped), expected)


@pytest.mark.usefixtures("small_limits")
def test_a_map_that_was_sent_to_another_process_is_an_array(X, tmp_path):
    rows = ArrayRows(make_map(tmp_path / "X.dat", "r", X))
    again = pickle.loads(pickle.dumps(rows))
    np.testing.assert_array_equal(again.slice(0, 600).numpy(), X)


def test_small_maps_and_arrays_are_left_alone(X, tmp_path):
    for array in (X, make_map(tmp_path / "X.dat", "r", X)):
        pages = MappedPages(array)
        pages.count(10**9)
        assert not pages._is_large
        assert pages._n_resident == 0


def test_where_pages_cannot_be_given_back_nothing_is_done(X, tmp_path, monkeypatch):
    monkeypatch.setattr(mapped_pages, "_SMALL_MAP", 0)
    monkeypatch.delattr(mmap, "MADV_DONTNEED", raising=False)
    assert not MappedPages(make_map(tmp_path / "X.dat", "r", X))._is_large


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_every_block_of_a_map_is_checked(kind, value, tmp_path, monkeypatch):
    monkeypatch.setattr("skpresto._estimators.arrays._BYTES_CHECKED", 1 << 10)
    mapped = np.memmap(tmp_path / "X.dat", kind, "w+", shape=(500, 3))
    y = np.arange(500) % 2
    quick(DefaultClassifier, max_epochs=1).fit(mapped, y)
    mapped[499, 2] = value
    with pytest.raises(ValueError, match="Input X contains (NaN|infinity)"):
        quick(DefaultClassifier, max_epochs=1).fit(mapped, y)
    with pytest.raises(ValueError, match="Input X.*part.* contains (NaN|infinity)"):
        quick(DefaultClassifier, max_epochs=1).fit({"part": mapped}, y)
