"""Who may import whom: downwards only, read from the source."""

import ast
import subprocess
import sys
from pathlib import Path

import skpresto

ROOT = Path(skpresto.__file__).parent

#: Layer of each part of the package; a part may import lower layers and itself.
LAYERS = {
    "_label_types": 0,
    "_delegation": 1,
    "_device": 1,
    "_heap": 1,
    "_inner_estimators": 1,
    "_labels": 1,
    "_numeric": 1,
    "_packages": 1,
    "_sklearn": 1,
    "_splits": 1,
    "_warn": 1,
    "exceptions": 1,
    "metrics": 2,
    "noise": 2,
    "stopping": 2,
    "datasets": 2,
    "modules": 2,
    "losses": 2,
    "_data": 3,
    "_label_quality": 4,
    "plots": 5,
    "_networks": 5,
    "_training": 6,
    "_resume": 7,
    "_parallel": 8,
    "_classifier": 9,
    "_methods": 10,
    "_cleaning": 5,
    "baselines": 11,
    "audit": 11,
    "cli": 12,
    "__main__": 13,
    "__init__": 13,
}
WITHOUT_TORCH = (
    "_delegation",
    "_heap",
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
    "_cleaning",
    "audit",
    "cli",
    "__main__",
)
#: Files without torch of a part that has files with it.
FILES_WITHOUT_TORCH = tuple(
    f"_label_quality/{name}.py"
    for name in (
        *("assessor", "bayes", "choice", "features", "findings", "rounds"),
        "weighted_fit",
    )
)
#: A file of these parts that imports torch; it is loaded when its class is used.
WITH_TORCH = ("datasets/_parquet_dataset.py",)
#: The only files that import skorch.
WITH_SKORCH = ("_networks/net.py", "_networks/callbacks.py")


def part_of(path):
    return path.relative_to(ROOT).with_suffix("").parts[0]


#: The source of each file, parsed.
TREES = {
    path: ast.parse(path.read_text(encoding="utf-8"))
    for path in sorted(ROOT.rglob("*.py"))
}


def imports_of(tree):
    """Yield the modules a file imports, wherever in the file."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


#: What each file imports.
IMPORTS = {path: list(imports_of(tree)) for path, tree in TREES.items()}
#: Every file with each of its imports.
PAIRS = [(path, module) for path, found in IMPORTS.items() for module in found]


def test_imports_go_downwards():
    for path, module in PAIRS:
        part = part_of(path)
        if module.startswith("skpresto.") and part != "__init__":
            other = module.split(".")[1]
            assert other == part or LAYERS[other] < LAYERS[part], (path, module)


def test_a_method_imports_only_what_methods_share_and_those_it_extends():
    """Names of shared files begin with an underscore; these import no method."""
    for path, module in PAIRS:
        if part_of(path) == "_methods" and module.startswith("skpresto._methods."):
            is_shared = path.stem.startswith("_")
            assert not is_shared or module.split(".")[2].startswith("_"), path


def test_policies_know_no_trainer():
    """What is learned from a batch does not depend on how networks are trained."""
    for path, tree in TREES.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef) and _is_policy(node):
                names = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
                assert not names & {"Trainer", "NoisyLabelNet"}, (path, node.name)


def _is_policy(node):
    bases = {base.id for base in node.bases if isinstance(base, ast.Name)}
    return any(b.endswith("Policy") or b.startswith("ExchangeSmall") for b in bases)


def test_third_party_imports_stay_in_their_place():
    for path, module in PAIRS:
        top, place = module.split(".")[0], path.relative_to(ROOT).as_posix()
        is_light = part_of(path) in WITHOUT_TORCH or place in FILES_WITHOUT_TORCH
        if is_light and place not in WITH_TORCH:
            assert top not in ("torch", "skorch"), path
        assert top != "skorch" or place in WITH_SKORCH, path
        is_private = top == "sklearn" and "._" in module
        assert not is_private or part_of(path) == "_sklearn", path


def test_torch_is_not_loaded_by_parts_that_do_without():
    files = [name[:-3].replace("/", ".") for name in FILES_WITHOUT_TORCH]
    names = ["noise", "stopping", "metrics", "datasets", "plots", "audit", *files]
    names += ["_cleaning.classifier"]
    code = f"""
import importlib, sys
for name in {[*names, "baselines", "cli"]}:
    importlib.import_module(f"skpresto.{{name}}")
    assert "torch" not in sys.modules, name
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_every_part_has_a_layer():
    assert {part_of(path) for path in IMPORTS} <= set(LAYERS)


def test_files_hold_one_idea():
    for path in IMPORTS:
        assert len(path.read_text(encoding="utf-8").splitlines()) <= 300, path
