import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from skpresto._data.batches import (
    TensorBatches,
    TensorBlocks,
    batch_sizes,
    drawn_order,
    prediction_batches,
)
from skpresto._data.samples import ArrayRows, TensorRows
from skpresto._data.training_data import PredictionRows, TrainingRows

sizes = {"n_rows": st.integers(1, 40), "batch_size": st.integers(1, 12)}


def of_tensor(X):
    return TensorRows(torch.from_numpy(X))


def rows_of(n_rows):
    return TrainingRows(TensorRows(torch.zeros(n_rows, 1)), torch.zeros(n_rows).long())


@given(**sizes, shuffle=st.booleans())
def test_an_epoch_visits_every_row_once(n_rows, batch_size, shuffle):
    params = {"batch_size": batch_size, "shuffle": shuffle, "num_workers": 0}
    drawn, others = drawn_order(rows_of(n_rows), params)
    assert others == {"num_workers": 0}
    assert list(map(len, drawn)) == batch_sizes(n_rows, batch_size)
    positions = torch.cat(drawn).tolist()
    assert sorted(positions) == list(range(n_rows))
    assert shuffle or positions == sorted(positions)


@given(**sizes)
def test_no_batch_of_one_row_unless_there_is_no_other(n_rows, batch_size):
    lengths = batch_sizes(n_rows, batch_size)
    if batch_size > 1 and n_rows > 1:
        assert min(lengths) > 1
    assert max(lengths) <= batch_size + 1


@pytest.mark.parametrize(
    ("n_rows", "lengths"),
    [
        (256, [128, 128]),
        (272, [128, 128, 16]),  # an eighth is enough for a batch
        (271, [128, 143]),
        (15, [15]),  # nothing to join
    ],
)
def test_a_last_batch_of_a_few_rows_joins_the_one_before(n_rows, lengths):
    assert batch_sizes(n_rows, 128) == lengths


@given(**sizes)
def test_drop_last_leaves_out_the_short_batch_only(n_rows, batch_size):
    lengths = batch_sizes(n_rows, batch_size, drop_last=True)
    assert lengths == [batch_size] * (n_rows // batch_size) or lengths == [n_rows]
    params = {"batch_size": batch_size, "drop_last": True}
    drawn, _ = drawn_order(rows_of(n_rows), params)
    assert list(map(len, drawn)) == lengths


def test_minus_one_means_one_batch():
    assert batch_sizes(7, -1) == [7]


@pytest.mark.parametrize("kind", [ArrayRows, of_tensor])
def test_batches_of_tensors_equal_single_rows(kind):
    X = kind(np.arange(30, dtype=np.float32).reshape(10, 3))
    labels, rows = torch.arange(10) % 4, torch.tensor([9, 2, 4, 5, 7])
    dataset = TrainingRows(X, labels, rows)
    assert len(dataset) == 5
    batches = TensorBatches(dataset, torch.tensor([3, 0, 2, 4, 1]).split([3, 2]))
    assert [index.tolist() for index in batches.order] == [[5, 9, 4], [7, 2]]
    seen = []
    for features, given_labels, index in batches:
        for x, y, i in zip(features, given_labels, index, strict=True):
            item = dataset[rows.tolist().index(i)]
            assert torch.equal(item[0], x)
            assert item[1:] == (y, i)
            seen.append(int(i))
    assert seen == [5, 9, 4, 7, 2]


@pytest.mark.parametrize("kind", [ArrayRows, of_tensor])
@pytest.mark.parametrize("rows", [None, torch.tensor([3, 1, 8])])
def test_blocks_keep_the_order_of_the_rows(kind, rows):
    X = kind(np.arange(20, dtype=np.float32).reshape(10, 2))
    dataset = PredictionRows(X, rows)
    blocks = TensorBlocks(dataset, batch_size=4)
    parts = [block for block, _ in blocks]
    assert len(parts) == len(blocks)
    expected = torch.stack([dataset[i][0] for i in range(len(dataset))])
    assert torch.equal(torch.cat(parts), expected)


@pytest.mark.parametrize(
    ("shape", "batch_size", "expected"),
    [
        ((0, 32), 128, 4096),
        ((0, 32), 5000, 5000),
        ((0, 10**6), 128, 128),
        ((0, 3, 32, 32), 128, 128),
    ],
)
def test_tables_are_read_in_large_blocks_and_images_as_given(
    shape, batch_size, expected
):
    rows = PredictionRows(ArrayRows(np.empty(shape, dtype=np.float32)))
    blocks = prediction_batches(rows, {"batch_size": batch_size}, epoch=0)
    assert blocks.batch_size == expected
