"""Bad input, and processes that fail or die."""

import pytest

import skpresto
from skpresto import DefaultClassifier
from tests.parallel import cases, failures
from tests.parallel.processes import Failure, Group
from tests.parallel.test_same_results import assert_alike


def errors_of(group, function, *args):
    results = group.run(function, *args)
    assert all(isinstance(result, Failure) for result in results)
    return results


@pytest.fixture(autouse=True)
def _works_afterwards(request):
    """A failure leaves the processes in step."""
    yield
    for name in {"pair", "trio"} & set(request.fixturenames):
        group = request.getfixturevalue(name)
        assert len(set(group.results(failures.fit_one_epoch))) == 1


@pytest.mark.parametrize(
    ("what", "named"),
    [
        ("X", "X."),
        ("y", "y."),
        ("length", "X (array of float32 (60, 2) and array of float32 (59, 2)), y ("),
        ("lr", "parameter lr (0.1 and 0.2)."),
        ("version", "version of torch ("),
    ],
)
def test_processes_with_different_fits(what, named, trio):
    for failure in errors_of(trio, failures.fit_different, what):
        assert failure.kind == "ValueError"
        assert f"process 2 differs from process 0: {named}" in failure.message


@pytest.mark.parametrize(
    ("what", "kind", "message"),
    [
        ("item", "OSError", "the disk is gone"),
        ("callback", "KeyError", "what a callback did"),
        ("Ctrl-C", "KeyboardInterrupt", ""),
        ("backward", "MemoryError", "no memory for gradients"),
        ("parameter", "InvalidParameterError", "max_epochs"),
        ("labels", "ValueError", "only one class"),
    ],
)
def test_others_end_with_the_message_of_the_one_that_fails(what, kind, message, trio):
    *others, last = errors_of(trio, failures.fit_failing, what)
    assert last.kind == kind
    assert message in last.message
    for failure in others:
        assert failure.kind == "ParallelError"
        assert f"Process 2 of 3 in data_parallel failed: {kind}: " in failure.message
        assert message in failure.message


def test_a_process_that_fails_before_the_fit(pair):
    first, last = errors_of(pair, failures.fail_before_fit)
    assert last.kind == "FileNotFoundError"
    assert "FileNotFoundError: no images here" in first.message


@pytest.mark.parametrize(
    ("what", "kind", "message"),
    [
        ("all", "ValueError", "only one class"),
        ("sparse", "ValueError", "cannot add up sparse gradients"),
        ("drift", "ParallelError", "processes 0 and 1 differ after an epoch"),
    ],
)
def test_all_processes_fail_alike(what, kind, message, pair):
    for failure in errors_of(pair, failures.fit_failing, what):
        assert failure.kind == kind
        assert message in failure.message


def test_others_end_soon_after_one_dies(folder, tmp_path):
    group = Group(3, folder)
    first, dead, last = group.run(failures.fit_and_die, str(tmp_path / "died"))
    died_at = float((tmp_path / "died").read_text())
    assert dead is None
    for failure in (first, last):
        assert failure.time - died_at < 10
        assert failure.kind == "ParallelError"
        assert "connection to another process in data_parallel was lost" in (
            failure.message
        )
    group.close()


def test_samplers_are_refused(pair):
    for failure in errors_of(pair, failures.fit_with_sampler):
        assert "iterator_train__sampler cannot be used in data_parallel" in (
            failure.message
        )


def test_batches_smaller_than_the_processes_need(trio):
    for failure in errors_of(trio, failures.fit_small_batches, 5):
        assert "3 processes needs a batch_size of at least 6" in failure.message
        assert "got 5" in failure.message
    trio.results(failures.fit_small_batches, 6)


def test_blocks_cannot_be_nested(pair):
    for failure in errors_of(pair, failures.nested_blocks):
        assert failure.message.startswith("data_parallel blocks cannot be nested")


def test_without_processes_that_know_each_other():
    lines = r"import torch\.distributed as dist\n *dist\.init_process_group\(\"gloo\"\)"
    with pytest.raises(RuntimeError, match=lines), skpresto.data_parallel():
        DefaultClassifier()


def test_a_part_of_the_processes(trio):
    first, second, last = trio.results(failures.fit_in_part)
    assert_alike(second[0], first[0], tolerance=0)
    assert first[1] == second[1] == "entered"
    assert "a group that process 2 is not part of" in last[1]
    # A group of one is an ordinary fit.
    clf = cases.quick_with("DefaultClassifier", cases.Mixing)
    alone = cases.fitted(clf, *cases.noisy_blobs(60), is_parallel=False)
    assert_alike(last[0], cases.numbers_of(alone), tolerance=0)


def test_searches_with_workers_do_not_hang(pair):
    """In threads; benchmarks/parallel/sweep.py has a search in processes."""
    first, second = pair.results(failures.search, "threading")
    assert first == second


def test_nothing_holds_the_group_after_the_block(pair):
    assert pair.results(failures.groups_still_held) == [0, 0]


def test_forked_workers_are_not_part_of_the_team(pair):
    assert pair.results(failures.team_of_a_fork) == [True, True]
