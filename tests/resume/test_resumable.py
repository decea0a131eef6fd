"""Killed fits go on from the folder in which they stored their progress."""

import signal
import subprocess
import sys
import textwrap

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from skorch.callbacks import LRScheduler
from torch.optim.lr_scheduler import OneCycleLR

import skpresto
from skpresto import DefaultClassifier, PrestoppingClassifier
from skpresto._training.context import recorded_trajectories
from tests.discovery import every, quick, short_fits_warn
from tests.resume.kills import Killed, everything, fit_with_kills, kill_after

pytestmark = short_fits_warn


@every
def test_a_killed_fit_equals_an_uninterrupted_one(
    Classifier, small, tmp_path, monkeypatch
):
    clf = quick(Classifier, max_epochs=7)
    expected = everything(clone(clf).fit(*small), small[0])
    n_kills = fit_with_kills(monkeypatch, clf, *small, tmp_path / "fit", 3)
    assert n_kills >= 2
    assert everything(clf, small[0]) == expected
    assert not (tmp_path / "fit").exists()


@pytest.mark.parametrize(
    "schedule",
    [
        LRScheduler("StepLR", step_size=2),
        LRScheduler(OneCycleLR, max_lr=0.2, total_steps=40, step_every="batch"),
        LRScheduler("ReduceLROnPlateau", monitor="train_loss", patience=1),
        LRScheduler("LambdaLR", lr_lambda=lambda epoch: 1 / (epoch + 1)),
    ],
    ids=lambda schedule: str(schedule.policy),
)
def test_schedules_go_on_where_they_were(schedule, small, tmp_path, monkeypatch):
    clf = quick(PrestoppingClassifier, max_epochs=8, callbacks=[("rate", schedule)])
    expected = everything(clone(clf).fit(*small), small[0])
    fit_with_kills(monkeypatch, clf, *small, tmp_path / "fit", 3)
    assert everything(clf, small[0]) == expected


def test_a_fit_without_a_seed_goes_on_with_the_seed_it_began_with(
    small, tmp_path, monkeypatch
):
    clf = quick(DefaultClassifier, random_state=None)
    kill_after(monkeypatch, 4)
    with pytest.raises(Killed), skpresto.resumable(tmp_path / "fit", every=0):
        clf.fit(*small)
    monkeypatch.undo()
    fits = []
    for _ in range(2):
        with skpresto.resumable(tmp_path / "fit", every=0, keep=True):
            fits.append(everything(clone(clf).fit(*small), small[0]))
    assert fits[0] == fits[1]


def test_a_search_in_one_process_goes_on(small, tmp_path, monkeypatch):
    search = GridSearchCV(quick(DefaultClassifier, max_epochs=3), {"q": [1, 2]}, cv=2)
    expected = clone(search).fit(*small)
    fit_with_kills(monkeypatch, search, *small, tmp_path / "search", 4)
    np.testing.assert_array_equal(
        search.cv_results_["mean_test_score"], expected.cv_results_["mean_test_score"]
    )


def test_trajectories_go_on_too(small, tmp_path, monkeypatch):
    clf = quick(PrestoppingClassifier, max_epochs=6)
    with recorded_trajectories() as whole:
        clone(clf).fit(*small)
    with recorded_trajectories() as resumed:
        fit_with_kills(monkeypatch, clf, *small, tmp_path / "fit", 3)
    np.testing.assert_array_equal(resumed.probabilities(), whole.probabilities())


def test_a_process_that_is_killed_while_it_writes_goes_on(small, tmp_path):
    program = textwrap.dedent(
        """
        import os, signal, sys
        import numpy as np
        import skpresto

        folder, n_writes = sys.argv[1], int(sys.argv[2])
        written, fsync = [], os.fsync

        def keep_half(file):
            fsync(file)
            written.append(1)
            if len(written) == n_writes:
                os.truncate(file, os.fstat(file).st_size // 2)
                os.kill(os.getpid(), signal.SIGKILL)

        os.fsync = keep_half
        X = np.random.RandomState(0).normal(size=(80, 3)).astype(np.float32)
        clf = skpresto.DefaultClassifier(max_epochs=6, random_state=0)
        with skpresto.resumable(folder, every=0):
            clf.fit(X, X[:, 0] > 0)
        sys.stdout.write(clf.predict_proba(X).tobytes().hex())
        """
    )

    def attempt(folder, n_writes):
        command = [sys.executable, "-c", program, str(tmp_path / folder), str(n_writes)]
        return subprocess.run(command, capture_output=True, check=False)

    killed = attempt("killed", 6)  # after two descriptions and three states
    assert killed.returncode == -signal.SIGKILL
    [status] = skpresto.resume_status(tmp_path / "killed")
    assert (status.classifier, status.stage, status.n_epochs) == (
        "DefaultClassifier",
        "train",
        3,
    )
    X = np.random.RandomState(0).normal(size=(80, 3)).astype(np.float32)
    whole = DefaultClassifier(max_epochs=6, random_state=0).fit(X, X[:, 0] > 0)
    expected = whole.predict_proba(X).tobytes().hex()
    assert attempt("killed", 99).stdout.decode() == expected


def test_a_block_without_a_kill_changes_nothing_and_leaves_nothing(small, tmp_path):
    clf = quick(PrestoppingClassifier)
    expected = everything(clone(clf).fit(*small), small[0])
    with skpresto.resumable(tmp_path / "runs" / "fit", every=0):
        clf.fit(*small)
    assert everything(clf, small[0]) == expected
    assert list((tmp_path / "runs").iterdir()) == []


def test_nothing_is_written_before_it_is_time(small, tmp_path):
    with skpresto.resumable(tmp_path / "fit", every=3600, keep=True):
        quick(DefaultClassifier).fit(*small)
    assert list(tmp_path.glob("**/*.pt")) == []


def test_files_of_the_user_stay(small, tmp_path):
    with skpresto.resumable(tmp_path / "fit"):
        (tmp_path / "fit" / "notes.txt").write_text("mine")
    assert [p.name for p in (tmp_path / "fit").iterdir()] == ["notes.txt"]
