"""Samples of all kinds, of which a process reads its own only."""

import pytest

from tests.parallel import inputs
from tests.parallel.test_same_results import assert_alike

KINDS = ["memory map", "sparse", "two inputs", "Dataset", "workers", "collated"]


@pytest.mark.parametrize("kind", KINDS)
def test_samples_of_every_kind(kind, pair, tmp_path):
    expected = inputs.fit_kind(kind, tmp_path, is_parallel=False)
    for found in pair.results(inputs.fit_kind, kind, str(tmp_path)):
        assert_alike(found, expected)


def test_a_process_reads_its_part_of_a_dataset(pair, trio):
    assert inputs.n_items_read(is_parallel=False) == 100
    # 37 + 37 + 26 rows.
    assert pair.results(inputs.n_items_read) == [19 + 19 + 13, 18 + 18 + 13]
    assert trio.results(inputs.n_items_read) == [13 + 13 + 9, 12 + 12 + 9, 12 + 12 + 8]


def test_random_items_leave_the_processes_together(trio):
    digests = trio.results(inputs.fit_random_items)
    assert len(set(digests)) == 1


@pytest.mark.parametrize(
    ("n_samples", "is_dataset"), [(2, False), (3, True), (5, False)]
)
def test_fewer_rows_than_processes_need(n_samples, is_dataset, trio):
    args = n_samples, "Double", is_dataset
    for found, alone in trio.results(inputs.fit_few_rows, *args):
        assert_alike(found, alone)


def test_no_process_has_a_single_row_under_batch_norm(trio):
    found = trio.results(inputs.fit_few_rows, 5, "Mixing")
    for parallel, alone in found:
        batches = "weights 1.num_batches_tracked"
        assert parallel[batches] == alone[batches] == 3
        assert_alike(parallel, found[0][0], tolerance=0)


def test_images_in_reduced_precision(pair):
    first, second = pair.results(inputs.fit_images)
    assert first == second


def test_callbacks_see_whole_batches_in_every_process(pair):
    first, second = pair.results(inputs.fit_with_callbacks)
    assert first == second
    seen, gradients, scores, _ = first
    # Labels and outputs of all rows, features of half of them.
    assert seen == {(40, 40, 20)}
    assert len(gradients) == 3 * 2 * 6
    assert len(scores) == 3


def test_weights_are_those_of_the_first_process(pair):
    first, second = pair.results(inputs.fit_own_weights)
    assert first == second
