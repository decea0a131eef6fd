"""What is copied of the input, and what is not."""

import numpy as np
import pytest
import torch

from skpresto import DefaultClassifier
from skpresto._classifier.check import check_fit
from skpresto._data import batches, samples
from skpresto._networks import prediction_blocks
from tests.discovery import on_paths, quick, short_fits_warn


def rows_of(X, y):
    return check_fit(DefaultClassifier(), X, y, None, None, None, None).data.X.source


@pytest.fixture
def on_disk(blobs, tmp_path):
    """Return a function that puts the samples into a read-only memory map."""
    X, _ = blobs

    def make(dtype=np.float32):
        path = tmp_path / "X.dat"
        X.astype(dtype).tofile(path)
        return np.memmap(path, dtype, "r", shape=X.shape)

    return make


def test_a_float32_array_is_not_copied(blobs):
    X, y = blobs
    assert rows_of(X, y).ctypes.data == X.ctypes.data
    X.flags.writeable = False
    assert rows_of(X, y).ctypes.data == X.ctypes.data


@short_fits_warn
@on_paths("one stage", "folds")
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int16])
def test_a_memory_map_is_trained_on_as_its_array_is(Classifier, on_disk, blobs, dtype):
    y = blobs[1]
    mapped = on_disk(dtype)
    X = np.array(mapped)
    assert np.shares_memory(rows_of(mapped, y), mapped)
    by_map, by_array = (quick(Classifier).fit(data, y) for data in (mapped, X))
    for name, value in by_map.net_.module_.state_dict().items():
        assert torch.equal(value, by_array.net_.module_.state_dict()[name])
    np.testing.assert_array_equal(by_map.predict(mapped), by_array.predict(X))


def test_no_more_of_a_memory_map_is_in_memory_than_is_fetched_at_once(
    on_disk, blobs, monkeypatch
):
    monkeypatch.setattr(batches, "_ROWS_READ", 32)
    monkeypatch.setattr(batches, "_ROWS_AT_ONCE", 64)
    monkeypatch.setattr(prediction_blocks, "_MOST_OF_TABLE", 64)
    sizes = []
    as_tensor = torch.from_numpy

    def spy(array):
        if array.dtype == np.float32:
            sizes.append(len(array))
        return as_tensor(array)

    monkeypatch.setattr(samples.torch, "from_numpy", spy)
    clf = quick(DefaultClassifier, batch_size=16, max_epochs=2)
    clf.fit(on_disk(), blobs[1]).predict(on_disk())
    assert len(sizes) > 20
    assert max(sizes) <= 64
