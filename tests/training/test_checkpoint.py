import os
import signal
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

import pytest

from skpresto._training.checkpoint import Checkpoint, CheckpointStore
from skpresto._training.policy import LearnFromAll
from skpresto._training.stage import Stage


def checkpoint_of(trainer):
    return Checkpoint.of(trainer.net, trainer.history, trainer.n_epochs)


def restore(checkpoint, trainer):
    checkpoint.restore(trainer.net, trainer.history)
    trainer.n_epochs = checkpoint.n_epochs


def test_checkpoints_beyond_the_limit_go_to_disk_and_come_back_equal(
    make_trainer, everything, assert_equal
):
    trainer = make_trainer()
    trainer.run(Stage("train", LearnFromAll(), 1))
    first, store = everything(trainer), CheckpointStore(memory_limit=0)
    store.put(0, checkpoint_of(trainer))
    trainer.run(Stage("train", LearnFromAll(), 1))
    second = everything(trainer)
    store.put(1, checkpoint_of(trainer))
    assert store.epochs == [0, 1]
    assert not any(isinstance(kept, Checkpoint) for kept in store._kept.values())
    trainer.run(Stage("train", LearnFromAll(), 1))
    restore(store.get(1), trainer)
    assert_equal(everything(trainer), second)
    restore(store.get(0), trainer)
    assert_equal(everything(trainer), first)
    store.keep_only([1])
    assert store.epochs == [1]
    (file,) = store._kept.values()
    store.keep_only(())
    assert file.closed


def test_size_counts_weights_momentum_and_history(make_trainer):
    trainer = make_trainer(q=10)
    trainer.run(Stage("train", LearnFromAll(), 1))
    n_parameters = sum(p.numel() for p in trainer.net.module_.parameters())
    size = checkpoint_of(trainer).nbytes
    assert size >= 2 * 4 * n_parameters + 11 * 400


def test_an_absent_temporary_folder_is_named(make_trainer, monkeypatch, tmp_path):
    gone = tmp_path / "gone"
    monkeypatch.setattr(tempfile, "tempdir", str(gone))
    store = CheckpointStore(memory_limit=0)
    message = f"folder for temporary files, {gone}, .*No such file.*TMPDIR"
    with pytest.raises(OSError, match=message):
        store.put(0, checkpoint_of(make_trainer()))
    assert store.epochs == []


def test_a_full_disk_is_reported_with_the_folder(make_trainer):
    resource = pytest.importorskip("resource")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    checkpoint = checkpoint_of(make_trainer())
    store = CheckpointStore(memory_limit=0)
    # A limit on the size of files makes writing fail as a full disk does.
    resource.setrlimit(resource.RLIMIT_FSIZE, (1024, hard))
    try:
        with pytest.raises(OSError, match=f"{tempfile.gettempdir()}.*Free space"):
            store.put(0, checkpoint)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


SPILL = """
    import time
    import numpy as np
    from skpresto._training import checkpoint
    from skpresto import PrestoppingClassifier

    spill = checkpoint._written

    def spill_and_wait(kept):
        file = spill(kept)
        print("spilled", flush=True)
        time.sleep(60)
        return file

    checkpoint._written = spill_and_wait
    checkpoint.CheckpointStore.__init__.__defaults__ = (0,)
    X = np.random.RandomState(0).normal(size=(60, 4)).astype(np.float32)
    y = (X[:, 0] > 0).astype(int)
    PrestoppingClassifier(max_epochs=3).fit(X, y)
"""


@pytest.mark.skipif(os.name != "posix", reason="sends signals")
@pytest.mark.parametrize("ending", [signal.SIGKILL, signal.SIGTERM])
def test_a_killed_process_leaves_no_files_behind(tmp_path, ending):
    environment = {
        **os.environ,
        "TMPDIR": str(tmp_path),
        "PYTHONPATH": str(Path(__file__).parents[2]),
    }
    command = [sys.executable, "-c", textwrap.dedent(SPILL)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment) as process:
        assert process.stdout.readline() == b"spilled\n"
        process.send_signal(ending)
    assert process.returncode == -ending
    assert list(tmp_path.iterdir()) == []
