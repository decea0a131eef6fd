"""Rows of large memory maps are read from their file, and are the same."""

import os
import pickle
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from skpresto import DefaultClassifier
from skpresto._data import mapped_file as module
from skpresto._data.mapped_file import mapped_file
from skpresto._data.samples import ArrayRows
from tests.discovery import quick

on_linux = pytest.mark.skipif(
    not os.path.exists("/proc/self/maps"), reason="the file of a map is not known"
)


@pytest.fixture
def every_map_is_large(monkeypatch):
    monkeypatch.setattr(module, "_SMALL_MAP", 0)
    monkeypatch.setattr(module, "_SHORT_ROW", 0)


def make_map(path, mode="r", n_bytes_before=0, dtype=np.float32):
    """Return a map of 40 x 3 x 5 numbers, and the numbers."""
    X = np.random.RandomState(0).normal(size=(40, 3, 5)).astype(dtype)
    path.write_bytes(b"\0" * n_bytes_before + X.tobytes())
    return np.memmap(path, dtype, mode, n_bytes_before, X.shape), X


@on_linux
@pytest.mark.usefixtures("every_map_is_large")
@pytest.mark.parametrize("mode", ["r", "r+", "c"])
@pytest.mark.parametrize("n_bytes_before", [0, 7, 5000])
def test_rows_are_those_of_the_map(mode, n_bytes_before, tmp_path):
    mapped, X = make_map(tmp_path / "X.dat", mode, n_bytes_before)
    if mode != "r":
        mapped[5] = X[5] = 7.0  # in memory only, in mode "c"
    views = {
        "whole": slice(None),
        "end": slice(10, None),
        "every other": slice(1, None, 2),
        "backwards": slice(None, None, -1),
    }
    for name, view in views.items():
        rows, expected = ArrayRows(np.asarray(mapped[view])), X[view]
        assert (rows._file is None) == (mode == "c"), name
        index = torch.randperm(len(expected))
        np.testing.assert_array_equal(rows.take(index).numpy(), expected[index.numpy()])
        np.testing.assert_array_equal(rows.slice(2, 9).numpy(), expected[2:9])
        np.testing.assert_array_equal(rows.slice(0, 99).numpy(), expected)
        np.testing.assert_array_equal(rows.item(3).numpy(), expected[3])


@on_linux
@pytest.mark.usefixtures("every_map_is_large")
def test_other_types_are_converted(tmp_path):
    for dtype in (">f8", "<i2", "u1"):
        mapped, X = make_map(tmp_path / f"{dtype[1:]}.dat", dtype=dtype)
        rows = ArrayRows(mapped)
        assert rows._file is not None
        np.testing.assert_array_equal(rows.slice(0, 40).numpy(), X.astype(np.float32))


@on_linux
@given(start=st.integers(0, 20), step=st.integers(1, 4), columns=st.integers(1, 5))
def test_any_view_is_read_correctly(tmp_path_factory, start, step, columns):
    mapped, X = make_map(tmp_path_factory.mktemp("map") / "X.dat", n_bytes_before=12)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_SMALL_MAP", 0)
        patch.setattr(module, "_SHORT_ROW", 0)
        rows = ArrayRows(mapped[start::step, :, :columns])
    np.testing.assert_array_equal(
        rows.slice(0, 40).numpy(), X[start::step, :, :columns]
    )
    assert (rows._file is None) == (columns < 5)  # rows in pieces


def resident():
    """Return how many bytes of files are resident in this process."""
    [line] = [
        line
        for line in Path("/proc/self/status").read_text().splitlines()
        if line.startswith("RssFile")
    ]
    return int(line.split()[1]) * 1024


@on_linux
def test_what_was_read_does_not_stay_resident(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "_SMALL_MAP", 1 << 20)
    with open(tmp_path / "X.dat", "wb") as file:
        file.truncate(1 << 26)
    mapped = np.memmap(tmp_path / "X.dat", np.float32, "r", shape=(4096, 4096))
    rows, before = ArrayRows(mapped), resident()
    for index in torch.randperm(4096).split(64):
        rows.take(index)
    rows.slice(0, 4096)
    assert resident() - before < 1 << 24
    mapped.sum()
    assert resident() - before >= 1 << 26


@pytest.mark.usefixtures("every_map_is_large")
def test_a_fit_from_a_large_map_equals_one_from_an_array(noisy_blobs, tmp_path):
    X, y, _ = noisy_blobs
    X.tofile(tmp_path / "X.dat")
    mapped = np.memmap(tmp_path / "X.dat", np.float32, "r", shape=X.shape)
    expected = quick(DefaultClassifier, max_epochs=2).fit(X, y).predict_proba(X)
    clf = quick(DefaultClassifier, max_epochs=2).fit(mapped, y)
    np.testing.assert_array_equal(clf.predict_proba(mapped), expected)


def test_small_maps_short_rows_and_arrays_are_read_as_they_are(tmp_path, monkeypatch):
    mapped, X = make_map(tmp_path / "X.dat")
    monkeypatch.setattr(module, "_SMALL_MAP", 0)
    assert mapped_file(mapped) is None  # rows of 60 bytes
    monkeypatch.setattr(module, "_SHORT_ROW", 0)
    assert mapped_file(X) is None
    assert mapped_file(mapped[:0]) is None
    assert mapped_file(mapped.reshape(-1)) is None
    monkeypatch.setattr(module, "_SMALL_MAP", 1 << 30)
    assert mapped_file(mapped) is None


@on_linux
@pytest.mark.usefixtures("every_map_is_large")
def test_a_file_that_is_not_the_one_mapped_is_not_read(tmp_path, monkeypatch):
    mapped, X = make_map(tmp_path / "X.dat")
    os.replace(tmp_path / "X.dat", tmp_path / "moved.dat")
    assert mapped_file(mapped) is None
    (tmp_path / "X.dat").write_bytes(b"\0" * X.nbytes)
    rows = ArrayRows(mapped)
    np.testing.assert_array_equal(rows.slice(0, 40).numpy(), X)
    os.replace(tmp_path / "moved.dat", tmp_path / "X.dat")
    assert mapped_file(mapped) is not None
    monkeypatch.setattr(module, "_identity_of_map", lambda address: None)
    assert mapped_file(mapped) is None


@on_linux
@pytest.mark.usefixtures("every_map_is_large")
@pytest.mark.parametrize("is_replaced", [False, True])
def test_if_the_file_goes_the_map_is_read(is_replaced, tmp_path):
    path = tmp_path / "X.dat"
    mapped, X = make_map(path)
    rows = ArrayRows(mapped)
    path.unlink()
    if is_replaced:
        path.write_bytes(b"\0" * X.nbytes)
    assert rows._file is not None
    np.testing.assert_array_equal(rows.slice(0, 40).numpy(), X)
    np.testing.assert_array_equal(rows.take(torch.arange(40)).numpy(), X)


@on_linux
@pytest.mark.usefixtures("every_map_is_large")
def test_a_file_that_becomes_shorter_is_an_error(tmp_path):
    mapped, _ = make_map(tmp_path / "X.dat")
    rows = ArrayRows(mapped)
    os.truncate(tmp_path / "X.dat", 100)
    with pytest.raises(OSError, match="has become shorter. Leave it unchanged"):
        rows.slice(0, 40)


def test_where_the_files_of_maps_are_not_known_nothing_is_read_from_them(monkeypatch):
    monkeypatch.setattr(Path, "read_text", lambda path: "1-2 r--p 0 00:00 0")
    assert module._identity_of_map(5) is None

    def fail(path):
        raise FileNotFoundError

    monkeypatch.setattr(Path, "read_text", fail)
    assert module._identity_of_map(5) is None


@pytest.mark.usefixtures("every_map_is_large")
def test_rows_can_be_sent_to_another_process(tmp_path):
    mapped, X = make_map(tmp_path / "X.dat")
    again = pickle.loads(pickle.dumps(ArrayRows(mapped)))
    np.testing.assert_array_equal(again.slice(0, 40).numpy(), X)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_every_block_of_a_map_is_checked(kind, value, tmp_path, monkeypatch):
    monkeypatch.setattr("skpresto._classifier.inputs._BYTES_CHECKED", 1 << 10)
    mapped = np.memmap(tmp_path / "X.dat", kind, "w+", shape=(500, 3))
    y = np.arange(500) % 2
    quick(DefaultClassifier, max_epochs=1).fit(mapped, y)
    mapped[499, 2] = value
    with pytest.raises(ValueError, match="Input X contains (NaN|infinity)"):
        quick(DefaultClassifier, max_epochs=1).fit(mapped, y)
    with pytest.raises(ValueError, match="Input X.*part.* contains (NaN|infinity)"):
        quick(DefaultClassifier, max_epochs=1).fit({"part": mapped}, y)
