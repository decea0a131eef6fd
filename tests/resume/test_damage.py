"""Damaged files of a stored fit are noticed, and the fit goes back, or is refused."""

import os
import shutil
import subprocess

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import skpresto
from skpresto import DefaultClassifier, PrestoppingClassifier
from skpresto.exceptions import ResumeWarning
from tests.discovery import quick, short_fits_warn
from tests.resume.kills import Killed, everything, kill_after

pytestmark = short_fits_warn


def killed_fit(folder, small, n_epochs):
    with pytest.MonkeyPatch.context() as patch:
        kill_after(patch, n_epochs)
        with pytest.raises(Killed), skpresto.resumable(folder, every=0):
            prestopping().fit(*small)


def prestopping():
    return quick(PrestoppingClassifier, max_epochs=8)


def resumed(folder, small):
    with skpresto.resumable(folder, every=0, keep=True):
        return everything(prestopping().fit(*small), small[0])


@pytest.fixture
def expected(small):
    return everything(prestopping().fit(*small), small[0])


def states(folder, n_run=1):
    return sorted(folder.glob(f"fit-00001/run-{n_run:04d}-after-*.pt"))


def flip(path, bit):
    content = bytearray(path.read_bytes())
    content[bit // 8 % len(content)] ^= 1 << bit % 8
    path.write_bytes(content)


def cut(path):
    os.truncate(path, path.stat().st_size // 2)


def swap(path):
    other = min(path.parent.glob("run-0001-after-*.pt"))
    path.write_bytes(other.read_bytes())


DAMAGES = {
    "a flipped bit": lambda path: flip(path, 7 * path.stat().st_size),
    "half of it is gone": cut,
    "nothing is left": lambda path: path.write_bytes(b""),
    "another file under its name": swap,
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_state_goes_back_to_the_one_before(damage, small, tmp_path, expected):
    killed_fit(tmp_path / "fit", small, 4)
    before, latest = states(tmp_path / "fit")
    damage(latest)
    message = (
        rf"{latest.name} is damaged, or of another fit or version of skpresto: its "
        "checksum is not that of its name and content. The fit goes back to the state "
        "after epoch 3 of this stage, the last that is not damaged, and ends with the "
    )
    with pytest.warns(ResumeWarning, match=message):
        assert resumed(tmp_path / "fit", small) == expected
    assert not before.exists()


def test_a_missing_checkpoint_goes_back(small, tmp_path, expected):
    """A checkpoint that the latest state refers to was deleted by hand."""
    killed_fit(tmp_path / "fit", small, 4)
    max(tmp_path.glob("fit/*/run-0001-epoch-*.pt")).unlink()
    with pytest.warns(ResumeWarning, match="epoch-00004.pt .* cannot be read: No such"):
        assert resumed(tmp_path / "fit", small) == expected


def test_without_an_undamaged_state_the_fit_is_refused(small, tmp_path):
    killed_fit(tmp_path / "fit", small, 4)
    for path in states(tmp_path / "fit"):
        flip(path, 999)
    with pytest.raises(ValueError, match="after-00004.pt is damaged.* begins anew"):
        resumed(tmp_path / "fit", small)
    [status] = skpresto.resume_status(tmp_path / "fit")
    assert (status.stage, status.n_epochs) == (None, 0)


def test_a_damaged_stage_goes_back_to_the_end_of_the_one_before(
    small, tmp_path, expected
):
    resumed(tmp_path / "fit", small)
    for path in states(tmp_path / "fit", 2):
        flip(path, 999)
    with pytest.warns(ResumeWarning, match="goes back to the end of the stage before"):
        assert resumed(tmp_path / "fit", small) == expected


def test_states_of_another_fit_are_not_taken(small, tmp_path):
    for name, lr in (("a", 0.1), ("b", 0.2)):
        with skpresto.resumable(tmp_path / name, every=0, keep=True):
            quick(DefaultClassifier, max_epochs=2, lr=lr).fit(*small)
    for path in states(tmp_path / "a"):
        shutil.copy(path, tmp_path / "b" / "fit-00001")
    with (
        pytest.raises(ValueError, match="is damaged, or of another fit"),
        skpresto.resumable(tmp_path / "b"),
    ):
        quick(DefaultClassifier, max_epochs=2, lr=0.2).fit(*small)


def test_two_states_are_kept(small, tmp_path):
    resumed(tmp_path / "fit", small)
    assert len(states(tmp_path / "fit")) == 2
    assert list(tmp_path.glob("**/*.part")) == []


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    """A fit that was killed, and what it would have come to."""
    X = np.random.RandomState(0).normal(size=(60, 3)).astype(np.float32)
    small, folder = (X, X[:, 0] > 0), tmp_path_factory.mktemp("stored") / "fit"
    killed_fit(folder, small, 4)
    return small, folder, everything(prestopping().fit(*small), X)


@pytest.mark.filterwarnings("ignore::skpresto.exceptions.ResumeWarning")
@settings(max_examples=20, deadline=None)
@given(number=st.integers(0, 10), bit=st.integers(0, 10**6))
def test_no_flipped_bit_changes_a_result(stored, tmp_path_factory, number, bit):
    small, folder, expected = stored
    copy = tmp_path_factory.mktemp("copy") / "fit"
    shutil.copytree(folder, copy)
    files = [path for path in sorted(copy.rglob("*.*")) if path.name != ".lock"]
    flip(files[number % len(files)], bit)
    try:
        found = resumed(copy, small)
    except ValueError as error:
        assert "is damaged" in str(error)  # noqa: PT017
    else:
        assert found == expected


@pytest.fixture
def small_disk(tmp_path):
    """A disk of 64 KiB; only root can mount one."""
    place = tmp_path / "disk"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(place)]
    try:
        subprocess.run(mount, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("only root can mount a disk")
    yield place
    subprocess.run(["umount", str(place)], check=True)


def test_a_disk_that_fills_up_leaves_what_was_stored(small_disk, small, expected):
    with pytest.warns(ResumeWarning, match="could not be stored .*No space left"):
        assert resumed(small_disk / "fit", small) == expected
    assert list(small_disk.glob("**/*.part")) == []
    np.testing.assert_array_less(0, len(states(small_disk / "fit")))
    with pytest.warns(ResumeWarning, match="could not be stored .*No space left"):
        assert resumed(small_disk / "fit", small) == expected
