"""Folders that cannot be resumed from, each with a sentence that says why."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import skpresto
from skpresto import DefaultClassifier, PrestoppingClassifier
from skpresto._resume import files
from skpresto._training.context import recorded_trajectories
from skpresto.exceptions import ResumeWarning
from tests.discovery import quick, short_fits_warn
from tests.resume.kills import Killed, kill_after


def kept_fit(folder, small, **params):
    with skpresto.resumable(folder, every=0, keep=True):
        quick(DefaultClassifier, max_epochs=2, **params).fit(*small)


def enter(folder, **params):
    with skpresto.resumable(folder, **params):
        pass


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (lambda X, y: (quick(DefaultClassifier, max_epochs=2, lr=0.2), X, y), "lr"),
        (lambda X, y: (quick(PrestoppingClassifier, max_epochs=2), X, y), "class "),
        (lambda X, y: (quick(DefaultClassifier, max_epochs=2), X + 1, y), "X"),
        (lambda X, y: (quick(DefaultClassifier, max_epochs=2), X, y[::-1]), "y"),
        (
            lambda X, y: (quick(DefaultClassifier, max_epochs=2), X, y.astype(str)),
            "classes of y",
        ),
    ],
)
def test_the_folder_of_another_fit_is_refused(change, named, small, tmp_path):
    kept_fit(tmp_path / "fit", small, lr=0.1)
    clf, X, y = change(*small)
    with (
        pytest.raises(ValueError, match=f"another fit of Def.*{named}.* changed. Use"),
        skpresto.resumable(tmp_path / "fit"),
    ):
        clf.fit(X, y)
    assert (tmp_path / "fit").exists()


def test_another_memory_map_is_refused(small, tmp_path):
    X, y = small
    mapped = np.memmap(tmp_path / "X.dat", np.float32, "w+", shape=X.shape)
    mapped[:] = X
    kept_fit(tmp_path / "fit", (mapped, y))
    kept_fit(tmp_path / "fit", (mapped, y))
    mapped[0] += 1
    with pytest.raises(ValueError, match="another fit of DefaultClassifier: X changed"):
        kept_fit(tmp_path / "fit", (mapped, y))


def test_another_version_is_refused(small, tmp_path, monkeypatch):
    kept_fit(tmp_path / "fit", small)
    monkeypatch.setattr("skpresto._resume.fingerprint.version", lambda name: "0")
    with pytest.raises(ValueError, match=r"version of torch \(.*, now 0\)"):
        kept_fit(tmp_path / "fit", small)


@short_fits_warn
def test_a_fit_of_an_audit_is_not_resumed_outside_of_it(small, tmp_path):
    folder, clf = tmp_path / "fit", quick(PrestoppingClassifier, max_epochs=3)
    with recorded_trajectories(), skpresto.resumable(folder, every=0, keep=True):
        clf.fit(*small)
    message = "cannot go on in 'phase 1', .* of a fit that records other things"
    with pytest.raises(ValueError, match=message), skpresto.resumable(folder):
        clf.fit(*small)


def test_a_folder_with_other_files_is_refused(tmp_path):
    (tmp_path / "thesis.tex").write_text("")
    with pytest.raises(ValueError, match="needs a folder for itself"):
        enter(tmp_path)


def test_a_folder_that_was_never_completed_is_used(small, tmp_path):
    (tmp_path / "skpresto-resume.json.part").write_text("{")
    with skpresto.resumable(tmp_path):
        quick(DefaultClassifier, max_epochs=1).fit(*small)
    assert not (tmp_path / "skpresto-resume.json").exists()


def test_a_folder_of_another_format_is_refused(small, tmp_path):
    kept_fit(tmp_path / "fit", small)
    (tmp_path / "fit" / "skpresto-resume.json").write_text('{"format": 1}')
    with pytest.raises(ValueError, match="another fit or version of skpresto"):
        kept_fit(tmp_path / "fit", small)


def test_a_path_that_cannot_be_a_folder_is_refused(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match="resumable cannot write to the folder"):
        enter(tmp_path / "file" / "fit")


def test_two_processes_in_one_folder_are_refused(tmp_path):
    with (
        skpresto.resumable(tmp_path / "fit"),
        pytest.raises(RuntimeError, match="in use by another process"),
    ):
        enter(tmp_path / "fit")


@pytest.mark.parametrize("error", [OSError(28, "No space left"), RuntimeError("full")])
def test_a_full_disk_does_not_end_the_fit(error, small, tmp_path, monkeypatch):
    def fail(state, file):
        raise error

    monkeypatch.setattr(files.torch, "save", fail)
    with pytest.warns(ResumeWarning, match="could not be stored .* Training goes on"):
        kept_fit(tmp_path / "fit", small)
    assert list(tmp_path.glob("**/*.part")) == []


def test_the_status_of_another_folder_is_refused(tmp_path):
    with pytest.raises(ValueError, match="not a folder of skpresto.resumable"):
        skpresto.resume_status(tmp_path)


def test_the_status_before_the_first_write_has_no_stage(small, tmp_path):
    with skpresto.resumable(tmp_path / "fit", every=3600, keep=True):
        quick(DefaultClassifier, max_epochs=1).fit(*small)
    [status] = skpresto.resume_status(tmp_path / "fit")
    assert (status.number, status.stage, status.n_epochs) == (1, None, 0)
    assert status.age >= 0


# --- what the disk, the rights and other processes do ---------------------------------


def refuse(monkeypatch, owner, name, path_part, error):
    """Let a function fail for paths that contain ``path_part``."""
    original = getattr(owner, name)

    def fail(path, *args, **kwargs):
        if path_part in str(path):
            raise error
        return original(path, *args, **kwargs)

    monkeypatch.setattr(owner, name, fail)


DENIED = PermissionError(13, "Permission denied")
FULL = OSError(28, "No space left on device")


@pytest.mark.parametrize("what", ["skpresto-resume.json", ".lock"])
def test_a_folder_without_rights_is_refused(what, tmp_path, monkeypatch):
    if what == ".lock":
        monkeypatch.setattr("skpresto._resume.folder.FileLock", Denied)
    else:
        refuse(monkeypatch, os, "replace", what, DENIED)
    with pytest.raises(
        PermissionError, match="cannot write to .*: Permission denied. "
    ):
        enter(tmp_path / "fit")


class Denied:
    def __init__(self, path, timeout):
        pass

    def acquire(self):
        raise DENIED


@pytest.mark.skipif(os.name != "posix" or os.getuid() == 0, reason="needs rights")
def test_a_folder_that_is_read_only_is_refused(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(PermissionError, match="cannot write to the folder .*: Permiss"):
        enter(tmp_path / "fit")


@pytest.mark.parametrize("error", [DENIED, FULL])
def test_a_fit_that_cannot_be_described_is_trained_without(
    error, small, tmp_path, monkeypatch
):
    expected = quick(DefaultClassifier, max_epochs=2).fit(*small)
    refuse(monkeypatch, os, "replace", "fit.json", error)
    clf = quick(DefaultClassifier, max_epochs=2)
    message = f"DefaultClassifier will not be stored, .* {error.strerror}. Training goe"
    with (
        pytest.warns(ResumeWarning, match=message),
        skpresto.resumable(tmp_path / "fit", every=0),
    ):
        clf.fit(*small)
    assert not (tmp_path / "fit").exists()
    X = small[0]
    np.testing.assert_array_equal(clf.predict_proba(X), expected.predict_proba(X))


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_a_disk_that_is_really_full_does_not_end_the_fit(small, tmp_path, monkeypatch):
    """Writes go to a device without space; the last complete state stays."""
    folder, clf = tmp_path / "fit", quick(DefaultClassifier, max_epochs=4)
    kill_after(monkeypatch, 2)
    with pytest.raises(Killed), skpresto.resumable(folder, every=0):
        clf.fit(*small)
    monkeypatch.undo()
    monkeypatch.setattr("builtins.open", on_full_device(open))
    with (
        pytest.warns(ResumeWarning, match="could not be stored .* Training goes on"),
        skpresto.resumable(folder, every=0, keep=True),
    ):
        clf.fit(*small)
    assert clf.n_epochs_ == 4
    [status] = skpresto.resume_status(folder)
    assert status.n_epochs == 2


def on_full_device(original):
    def opened(path, mode="r", *args, **kwargs):
        target = "/dev/full" if str(path).endswith(".pt.part") else path
        return original(target, mode, *args, **kwargs)

    return opened


@pytest.mark.parametrize("content", ["", '{"seed": 1', "[1]", b"\xff\xfe"])
@pytest.mark.parametrize("name", ["skpresto-resume.json", "fit-00001/fit.json"])
def test_a_half_written_description_is_reported(name, content, small, tmp_path):
    kept_fit(tmp_path / "fit", small)
    content = content if isinstance(content, bytes) else content.encode()
    (tmp_path / "fit" / name).write_bytes(content)
    with pytest.raises(ValueError, match=f"{name} is damaged, .*begins ane"):
        kept_fit(tmp_path / "fit", small)


def test_a_description_without_rights_is_reported(tmp_path, small, monkeypatch):
    kept_fit(tmp_path / "fit", small)
    refuse(monkeypatch, Path, "read_bytes", "fit.json", DENIED)
    with pytest.raises(PermissionError, match="fit.json .* cannot be read: Permission"):
        kept_fit(tmp_path / "fit", small)


def test_a_folder_that_cannot_be_deleted_is_no_error(small, tmp_path, monkeypatch):
    refuse(monkeypatch, shutil, "rmtree", "fit-00001", DENIED)
    clf = quick(DefaultClassifier, max_epochs=1)
    with (
        pytest.warns(ResumeWarning, match="could not be deleted: Permission denied. "),
        skpresto.resumable(tmp_path / "fit"),
    ):
        clf.fit(*small)
    assert clf.n_epochs_ == 1


@pytest.mark.parametrize("folder", [None, 3, b"bytes"])
def test_a_folder_that_is_no_path_is_refused(folder):
    with pytest.raises(TypeError, match="resumable needs folder to be a path"):
        enter(folder)


@pytest.mark.parametrize("every", [-1, "30", None, float("nan")])
def test_a_time_that_is_no_number_is_refused(every, tmp_path):
    with pytest.raises(ValueError, match=f"every to be a number of .*got {every!r}"):
        enter(tmp_path / "fit", every=every)


def test_another_process_in_the_folder_is_noticed_until_it_is_killed(tmp_path):
    program = (
        "import sys, time, skpresto\n"
        "with skpresto.resumable(sys.argv[1]):\n"
        "    print('in', flush=True)\n"
        "    time.sleep(60)\n"
    )
    command = [sys.executable, "-c", program, str(tmp_path / "fit")]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as other:
        assert other.stdout.readline() == b"in\n"
        with (
            pytest.raises(RuntimeError, match="in use by another process. Wait until"),
            skpresto.resumable(tmp_path / "fit"),
        ):
            pass
        other.kill()
    enter(tmp_path / "fit")
    assert not (tmp_path / "fit").exists()
