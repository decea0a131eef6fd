"""Groups of processes, which stay for all tests."""

import pytest

from tests.parallel.processes import Group


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


@pytest.fixture(params=["pair", "trio"])
def group(request):
    """Two processes, and three."""
    return request.getfixturevalue(request.param)
