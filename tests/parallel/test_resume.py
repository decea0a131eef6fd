"""A fit of several processes goes on after one of them was killed."""

import pytest

from tests.discovery import RUNS_ALL
from tests.parallel import kills
from tests.parallel.processes import Group
from tests.parallel.test_same_results import assert_alike

NAMES = ["PrestoppingClassifier", "CrossPrestoppingClassifier"]


@pytest.mark.parametrize("name", NAMES if RUNS_ALL else NAMES[1:])
def test_killed_processes_end_with_the_same_bits(name, pair, folder, tmp_path):
    expected, _ = pair.results(kills.fit_whole, name)
    for victim, n_epochs in ((1, 3), (0, 4), (None, 0)):
        group = Group(2, folder)
        args = name, str(tmp_path / "fit"), victim, n_epochs
        results = group.run(kills.fit_until, *args)
        group.close()
        if victim is not None:
            assert results[victim] is None
            assert results[1 - victim].kind == "ParallelError"
            assert (tmp_path / "fit").exists()
    for found in results:
        assert_alike(found, expected, tolerance=0)
    assert not (tmp_path / "fit").exists()


def test_the_first_process_stores_for_all(pair, tmp_path):
    assert pair.results(kills.fit_in_own_folders, str(tmp_path)) == [1, 0]
