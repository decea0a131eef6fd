"""Rows of sparse matrices, of several parts, and of arrays, are read alike."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from torch.utils.data import TensorDataset

from skpresto._data.batches import TensorBatches, TensorBlocks, training_batches
from skpresto._data.dataset import DatasetRows
from skpresto._data.parts import PartsRows
from skpresto._data.samples import ArrayRows, SparseRows, TensorRows
from skpresto._data.training_data import PredictionRows, TrainingRows


@st.composite
def matrices(draw):
    """Draw a dense float32 array in which most entries are zero."""
    n_rows, n_columns = draw(st.integers(1, 30)), draw(st.integers(1, 12))
    rng = np.random.RandomState(draw(st.integers(0, 1000)))
    is_kept = rng.uniform(size=(n_rows, n_columns)) < draw(st.floats(0, 1))
    return np.where(is_kept, rng.normal(size=is_kept.shape), 0).astype(np.float32)


def row_numbers(n_rows):
    """Return a strategy for row numbers, in any order and with repetitions."""
    return st.lists(st.integers(0, n_rows - 1), min_size=1, max_size=40)


@given(matrices(), st.data())
def test_rows_of_a_sparse_matrix_are_those_of_the_dense_one(dense, data):
    kind = data.draw(st.sampled_from([sparse.csr_matrix, sparse.csr_array]))
    index = torch.tensor(data.draw(row_numbers(len(dense))))
    start, stop = sorted(data.draw(st.tuples(*[st.integers(0, len(dense))] * 2)))
    rows, expected = SparseRows(kind(dense)), TensorRows(torch.from_numpy(dense))
    assert len(rows) == len(expected)
    assert rows.sample_shape == expected.sample_shape
    assert rows.row_size == expected.row_size
    assert torch.equal(rows.take(index), expected.take(index))
    assert torch.equal(rows.slice(start, stop), expected.slice(start, stop))
    assert torch.equal(rows.item(0), expected.item(0))


@given(matrices(), st.data())
def test_batches_of_a_sparse_matrix_are_those_of_the_dense_one(dense, data):
    batch_size = data.draw(st.integers(1, 8))
    labels = torch.arange(len(dense))
    chosen = torch.tensor(sorted(set(data.draw(row_numbers(len(dense))))))
    seen = []
    for X in (ArrayRows(dense), SparseRows(sparse.csr_array(dense))):
        rows = TrainingRows(X, labels, chosen)
        torch.manual_seed(0)
        batches = training_batches(rows, {"batch_size": batch_size}, "cpu", 0)
        blocks = TensorBlocks(PredictionRows(X, chosen), batch_size)
        tensors = [tensor for batch in batches for tensor in batch]
        seen.append(tensors + [block for block, _ in blocks])
    assert all(map(torch.equal, *seen))


def test_no_more_rows_are_made_dense_than_are_needed(monkeypatch):
    X = sparse.random(200, 3000, density=0.01, format="csr", dtype=np.float32)
    sizes = []
    toarray = type(X).toarray
    monkeypatch.setattr(
        type(X), "toarray", lambda self: sizes.append(self.shape) or toarray(self)
    )
    monkeypatch.setattr("skpresto._data.batches._VALUES_READ", 3000 * 64)
    rows = TrainingRows(SparseRows(X), torch.zeros(200))
    batches = TensorBatches(rows, torch.arange(200).split(32))
    assert len(list(batches)) == 7
    assert max(sizes) == (32, 3000)


@given(matrices(), st.data())
def test_parts_are_read_together(dense, data):
    index = torch.tensor(data.draw(row_numbers(len(dense))))
    numbers = np.arange(len(dense))
    parts = {
        "numbers": ArrayRows(numbers, keeps_integers=True),
        "sparse": SparseRows(sparse.csr_array(dense)),
    }
    rows = PartsRows(parts)
    taken = rows.take(index)
    assert taken["numbers"].dtype == torch.int64
    assert torch.equal(taken["numbers"], index)
    assert torch.equal(taken["sparse"], torch.from_numpy(dense)[index])
    first = rows.slice(0, 1)
    assert torch.equal(first["sparse"][0], rows.item(0)["sparse"])
    assert rows.sample_shape == {"numbers": (), "sparse": dense.shape[1:]}
    assert rows.row_size == dense.shape[1] + 1
    assert len(rows) == len(dense)


@pytest.mark.parametrize("dtype", [np.int16, np.float64, bool])
def test_an_array_is_read_as_float32_unless_integers_are_kept(dtype):
    X = np.array([[0, 1], [1, 1]], dtype=dtype)
    assert ArrayRows(X).take(torch.tensor([1])).dtype == torch.float32
    kept = ArrayRows(X, keeps_integers=True).slice(0, 2)
    assert kept.is_floating_point() is (dtype is np.float64)
    assert torch.equal(kept, torch.tensor([[0, 1], [1, 1]], dtype=kept.dtype))


def test_consecutive_items_of_a_dataset_are_read_as_rows():
    X = torch.arange(12.0).view(6, 2)
    rows = DatasetRows(TensorDataset(X))
    assert torch.equal(rows.slice(4, 9), X[4:])
