"""The benchmarks are folders of scripts that import each other by name."""

import importlib
import sys
from contextlib import contextmanager
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import SimpleNamespace

import pytest

FOLDER = Path(__file__).parents[2] / "benchmarks"


@contextmanager
def importable(folder):
    """Make the scripts of a folder importable inside the block."""
    before = list(sys.path)
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        sys.path[:] = before


@pytest.fixture(scope="session")
def accuracy():
    """Return the scripts as a namespace: ``accuracy.run`` and so on."""
    names = [path.stem for path in (FOLDER / "accuracy").glob("*.py")]
    with importable(FOLDER / "accuracy"):
        return SimpleNamespace(**{n: importlib.import_module(n) for n in names})


@pytest.fixture(scope="session")
def audit(accuracy):
    """Return the scripts of the audit benchmark as a namespace."""
    folder, found = FOLDER / "audit", {}
    with importable(folder), pytest.MonkeyPatch.context() as patch:
        found["audits"] = importlib.import_module("audits")
        for name in ("run", "fit_constants", "table"):
            # There is a script of the same name in the accuracy benchmark.
            spec = spec_from_file_location(f"audit_{name}", folder / f"{name}.py")
            found[name] = module_from_spec(spec)
            patch.setitem(sys.modules, "run", found["run"])
            spec.loader.exec_module(found[name])
    return SimpleNamespace(**found)


@pytest.fixture
def result(accuracy):
    """Return a function that returns the made-up result of one fit."""

    def result(method, error, noise="pair", rate=0.4, seed=0, **fields):
        cell = accuracy.grids.cell_of(method, ("letter", (noise, rate)), seed)
        known = {"epochs": 4, "rows": None, "test_rows": None, "module": None}
        known |= {"noise_rate": 0.2, "safe_precision": 0.9, "safe_recall": 0.8}
        return {**vars(cell), **known, "error_last": error, **fields}

    return result
