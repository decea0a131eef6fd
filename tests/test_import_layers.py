"""Who may import whom: downwards only, read from the source."""

import ast
import subprocess
import sys
from pathlib import Path

import skpresto

ROOT = Path(skpresto.__file__).parent

#: Layer of each part of the package; a part may import lower layers and itself.
LAYERS = {
    "_heap": 0,
    "_fingerprint": 1,
    "_label_types": -1,
    "_inner_estimators": 0,
    "_labels": 0,
    "_numeric": 0,
    "_packages": 0,
    "_sklearn": 0,
    "_splits": 0,
    "_warn": 0,
    "exceptions": 0,
    "metrics": 1,
    "noise": 1,
    "stopping": 1,
    "datasets": 1,
    "modules": 1,
    "losses": 1,
    "_label_quality": 2,
    "_selection": 3,
    "_engine": 4,
    "_resume": 5,
    "plots": 5,
    "_parallel": 6,
    "_estimators": 7,
    "baselines": 8,
    "audit": 8,
    "cli": 9,
    "__main__": 10,
    "__init__": 10,
}
#: Layers within _estimators: shared parts, then the methods, then those built on them.
ESTIMATOR_LAYERS = {
    "_heap": 0,
    "__init__": 0,
    "callback_support": 0,
    "params": 0,
    "device": 0,
    "epochs": 0,
    "arrays": 0,
    "feature_scale": 0,
    "safe_set_warnings": 0,
    "weights": 0,
    "features": 1,
    "validation": 2,
    "callbacks": 1,
    "iterators": 1,
    "build": 2,
    "reporting": 2,
    "base": 3,
    "two_phases": 3,
    "cross_fitting": 3,
    "ensemble_fallback": 4,
    "noise_rate": 4,
    "active_bias": 5,
    "coteaching": 5,
    "default": 5,
    "prestopping": 5,
    "selfie": 5,
    "coteaching_plus": 6,
    "prestopping_plus": 6,
    "cross_prestopping": 6,
}
WITHOUT_TORCH = (
    "_heap",
    "_fingerprint",
    "_label_types",
    "_inner_estimators",
    "_labels",
    "_numeric",
    "_packages",
    "_sklearn",
    "_splits",
    "_warn",
    "exceptions",
    "metrics",
    "noise",
    "stopping",
    "datasets",
    "plots",
    "audit",
    "cli",
    "__main__",
)
#: A file of these parts that imports torch; it is loaded when its class is used.
WITH_TORCH = ("datasets/_parquet_dataset.py",)
#: The only files that import skorch.
WITH_SKORCH = ("_engine/net.py", "_engine/callbacks.py")


def part_of(path):
    return path.relative_to(ROOT).with_suffix("").parts[0]


def imports_of(path):
    """Yield the modules a file imports, wherever in the file."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


#: What each file imports.
IMPORTS = {path: list(imports_of(path)) for path in sorted(ROOT.rglob("*.py"))}
#: Every file with each of its imports.
PAIRS = [(path, module) for path, found in IMPORTS.items() for module in found]


def test_imports_go_downwards():
    for path, module in PAIRS:
        part = part_of(path)
        if module.startswith("skpresto.") and part != "__init__":
            other = module.split(".")[1]
            assert other == part or LAYERS[other] < LAYERS[part], (path, module)


def test_imports_among_estimators_go_downwards():
    for path, module in PAIRS:
        if part_of(path) == "_estimators" and module.startswith(
            "skpresto._estimators."
        ):
            other = module.split(".")[2]
            lower, here = ESTIMATOR_LAYERS[other], ESTIMATOR_LAYERS[path.stem]
            assert lower < here, (path, module)


def test_third_party_imports_stay_in_their_place():
    for path, module in PAIRS:
        top, place = module.split(".")[0], path.relative_to(ROOT).as_posix()
        if part_of(path) in WITHOUT_TORCH and place not in WITH_TORCH:
            assert top not in ("torch", "skorch"), path
        assert top != "skorch" or place in WITH_SKORCH, path
        is_private = top == "sklearn" and "._" in module
        assert not is_private or part_of(path) == "_sklearn", path


def test_torch_is_not_loaded_by_parts_that_do_without():
    names = "noise stopping metrics datasets plots audit baselines cli"
    code = f"""
import importlib, sys
for name in {names.split()}:
    importlib.import_module(f"skpresto.{{name}}")
    assert "torch" not in sys.modules, name
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_every_part_has_a_layer():
    assert {part_of(path) for path in IMPORTS} <= set(LAYERS)


def test_files_hold_one_idea():
    for path in IMPORTS:
        assert len(path.read_text(encoding="utf-8").splitlines()) <= 300, path
