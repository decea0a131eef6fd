"""The accuracy benchmark is a folder of scripts that import each other by name."""

import importlib
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "benchmarks" / "accuracy"
NAMES = (
    *("cells", "data", "contenders", "measure", "presets"),
    *("results", "run", "summary", "tables", "figures"),
)


@pytest.fixture(scope="session")
def accuracy():
    """Return the scripts as a namespace: ``accuracy.run`` and so on."""
    sys.path.insert(0, str(FOLDER))
    try:
        found = {name: importlib.import_module(name) for name in NAMES}
    finally:
        sys.path.remove(str(FOLDER))
    return type("accuracy", (), found)


@pytest.fixture(scope="session")
def methods(accuracy):
    """Return the methods that can be run: one of them needs cleanlab."""
    names = list(accuracy.contenders.METHODS)
    return [n for n in names if n != "CleanLearning" or find_spec("cleanlab")]
