"""On which device the files ``checks_*.py`` are run.

They are run by ``test_on_pretend_device.py``, and on a real device by
``make test-device``. Neither collects them here.
"""

import os

import numpy as np
import pytest
import torch

from tests.discovery import RUNS_ALL

#: Files that only processes of their own can import.
collect_ignore = ["pretend"]

#: "pretend", or the name of a real device, or "auto".
_WANTED = os.environ.get("SKPRESTO_TEST_DEVICE")


@pytest.fixture(scope="session")
def is_pretended():
    """Whether operators are computed by CPU kernels, with the bits of the CPU."""
    return _WANTED == "pretend"


@pytest.fixture(scope="session")
def device(is_pretended):
    """Name of the device to test."""
    if is_pretended:
        return "cuda"
    if _WANTED is None:
        pytest.skip("SKPRESTO_TEST_DEVICE does not name a device to test")
    found = torch.accelerator.current_accelerator()
    if found is None:
        pytest.skip("there is no GPU")
    return found.type if _WANTED == "auto" else _WANTED


@pytest.fixture(scope="session")
def second_device(device):
    """Name of another device."""
    if device != "cuda" or torch.cuda.device_count() < 2:
        pytest.skip("there is no second GPU")
    return "cuda:1"


@pytest.fixture(scope="session")
def with_processes(is_pretended):
    """Skip what starts processes, each of which takes as long as ten fits."""
    if is_pretended and not RUNS_ALL:
        pytest.skip("runs with SKPRESTO_TESTS=all, and on real devices")


@pytest.fixture(scope="session")
def tolerance(is_pretended):
    """Largest difference of a probability; real devices sum in another order."""
    return 1e-6 if is_pretended else 0.02


@pytest.fixture(scope="session")
def points():
    """Three classes of points, of which one in five is mislabeled: X, y."""
    rng = np.random.RandomState(0)
    y = rng.randint(0, 3, 160)
    X = (rng.normal(size=(160, 6)) + 3 * np.eye(3, 6)[y]).astype(np.float32)
    is_wrong = rng.uniform(size=160) < 0.2
    return X, np.where(is_wrong, (y + 1) % 3, y)


@pytest.fixture(scope="session")
def pictures():
    """Two classes of small pictures: X, y."""
    rng = np.random.RandomState(0)
    y = rng.randint(0, 2, 64)
    X = rng.normal(size=(64, 1, 6, 6)).astype(np.float32)
    X[y == 1, :, :3] += 2
    return X, y
