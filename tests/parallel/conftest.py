"""Groups of processes, which stay for all tests."""

import pytest

from tests.parallel.processes import Group


def pytest_itemcollected(item):
    """Let one worker of pytest-xdist run all of them, with ``--dist=loadgroup``."""
    item.add_marker(pytest.mark.xdist_group("processes"))


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("processes")


@pytest.fixture(scope="session")
def pair(folder):
    """Two processes."""
    group = Group(2, folder)
    yield group
    group.close()


@pytest.fixture(scope="session")
def trio(folder):
    """Three processes."""
    group = Group(3, folder)
    yield group
    group.close()
