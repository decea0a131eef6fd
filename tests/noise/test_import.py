"""skpresto.noise needs only numpy, scipy and scikit-learn."""

import subprocess
import sys

LOADED = """
import sys, {module}
print(*sorted({{name.partition(".")[0] for name in sys.modules}}))
"""


def loaded_by(module):
    run = subprocess.run(
        [sys.executable, "-c", LOADED.format(module=module)],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return set(run.stdout.split())


def test_import_loads_only_scikit_learn_and_its_dependencies():
    loaded = loaded_by("skpresto.noise")
    assert not {"torch", "skorch", "imblearn"} & loaded
    assert loaded - loaded_by("sklearn") == {"skpresto"}
