"""Run the checks of this folder on a pretend CUDA device, in processes of their own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from coverage import Coverage

from tests.device.pretend.build import reason_not_to_build

ROOT = Path(__file__).parents[2]
CHECKS = sorted(Path(__file__).parent.glob("checks_*.py"))
#: The files that a process runs; to start one takes as long as some fits.
PARTS = {"classifiers": CHECKS[:1], "others": CHECKS[1:]}


@pytest.mark.skipif(
    reason_not_to_build() is not None, reason=str(reason_not_to_build())
)
@pytest.mark.parametrize("part", PARTS)
def test_checks_pass(part):
    plugins = ["-p", "tests.device.pretend.plugin", "-p", "no:cacheprovider"]
    environment = {**os.environ, "SKPRESTO_TEST_DEVICE": "pretend"}
    if Coverage.current() is not None:
        environment["SKPRESTO_COVERAGE"] = "1"
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-rs", *plugins, *PARTS[part]],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
