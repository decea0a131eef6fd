"""The benchmarks are folders of scripts that import each other by name."""

import importlib
import sys
from contextlib import contextmanager
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "benchmarks"
ACCURACY = (
    *("cells", "changed_params", "classifiers", "comparison", "contenders", "cost"),
    *("costs", "data", "figures", "finding_tables", "grids", "kinds", "layout"),
    *("out_of_fold", "plain_scores", "presets", "ranking", "rare_class", "results"),
    *("rivals", "run", "settings", "several_fits", "stopwatch", "summary", "tables"),
    *("measure", "reduced_precision"),
)


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
    with importable(FOLDER / "accuracy"):
        found = {name: importlib.import_module(name) for name in ACCURACY}
    return type("accuracy", (), found)


@pytest.fixture(scope="session")
def label_quality(accuracy):
    """Return the scripts of the label-quality benchmark as a namespace."""
    folder = FOLDER / "label_quality"
    with importable(folder):
        found = {n: importlib.import_module(n) for n in ("detection", "table")}
        # Its name is that of a script of the accuracy benchmark.
        spec = spec_from_file_location("label_quality_run", folder / "run.py")
        found["run"] = module_from_spec(spec)
        spec.loader.exec_module(found["run"])
    return type("label_quality", (), found)


@pytest.fixture(scope="session")
def audit(accuracy):
    """Return the scripts of the audit benchmark as a namespace."""
    folder, found = FOLDER / "audit", {}
    with importable(folder):
        found["audits"] = importlib.import_module("audits")
        for name in ("run", "fit_constants", "table"):
            # Scripts of other benchmarks have the same names.
            spec = spec_from_file_location(f"audit_{name}", folder / f"{name}.py")
            found[name] = module_from_spec(spec)
            before = sys.modules.get("run")
            sys.modules["run"] = found["run"]
            try:
                spec.loader.exec_module(found[name])
            finally:
                sys.modules["run"] = before
    return type("audit", (), found)


@pytest.fixture(scope="session")
def methods(accuracy):
    """Return the methods that can be run: some need packages that are not installed."""
    found = accuracy.contenders.METHODS.items()
    return [name for name, method in found if method.is_available]
