"""Two processes train together, each on a GPU of its own."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import torch

from skpresto import PrestoppingClassifier
from skpresto._device import resolved_device
from skpresto._parallel.exchange import local_rank
from tests.discovery import short_fits_warn

pytestmark = short_fits_warn

ROOT = Path(__file__).parents[2]


def test_each_process_of_torchrun_takes_another_device(second_device, monkeypatch):
    for rank, name in enumerate(("cuda:0", second_device)):
        monkeypatch.setenv("LOCAL_RANK", str(rank))
        assert resolved_device("cuda", local_rank()) == torch.device(name)
        assert resolved_device(second_device, local_rank()) == torch.device("cuda:1")
    monkeypatch.delenv("LOCAL_RANK")
    assert resolved_device("auto", local_rank()) == torch.device("cuda:0")


def test_two_processes_train_together(
    with_processes, second_device, points, tmp_path, tolerance
):
    X, y = points
    np.savez(tmp_path / "data.npz", X=X, y=y)
    command = [sys.executable, "-W", "ignore", "-m", "tests.device.trained_together"]
    processes = []
    for rank in range(2):
        environment = {**os.environ, "GLOO_SOCKET_IFNAME": "lo"}
        environment["LOCAL_RANK"] = str(rank)
        processes.append(
            subprocess.Popen(
                [*command, tmp_path],
                cwd=ROOT,
                env=environment,
                stderr=subprocess.PIPE,
                text=True,
            )
        )
    errors = [process.communicate(timeout=200)[1] for process in processes]
    assert errors == ["", ""]
    devices = [(tmp_path / f"{rank}.txt").read_text() for rank in range(2)]
    assert devices == ["cuda:0", second_device]
    first, second = (np.load(tmp_path / f"{rank}.npy") for rank in range(2))
    np.testing.assert_array_equal(first, second)
    alone = PrestoppingClassifier(torch.nn.LazyLinear, device="cuda")
    alone.set_params(module__out_features=3, max_epochs=5, batch_size=32)
    alone.set_params(random_state=0).fit(X, y)
    np.testing.assert_allclose(alone.predict_proba(X), first, atol=10 * tolerance)
