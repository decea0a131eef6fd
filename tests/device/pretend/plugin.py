"""Load the pretend device into a process of pytest that is started with it as -p."""

import os

from coverage import Coverage

from tests.device.pretend.device import load

# Its file is combined with that of the process that runs the tests.
_measured = Coverage(data_suffix=True) if "SKPRESTO_COVERAGE" in os.environ else None
if _measured:
    _measured.start()

load()


def pytest_unconfigure():
    """Write what was measured."""
    if _measured:
        _measured.stop()
        _measured.save()
