"""Killed fits go on from the folder in which they stored their progress."""

import os
import signal
import subprocess
import sys
import textwrap
from dataclasses import asdict

import numpy as np
import pytest
import torch
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from skorch.callbacks import LRScheduler
from torch.optim.lr_scheduler import OneCycleLR

import skpresto
from skpresto import DefaultClassifier, PrestoppingClassifier
from skpresto._label_quality.trajectories import recorded_trajectories
from skpresto._resume import files
from skpresto._resume.journal import FitJournal
from skpresto.exceptions import ResumeWarning
from tests.discovery import CLASSIFIERS, quick

pytestmark = pytest.mark.filterwarnings(
    "ignore::sklearn.exceptions.ConvergenceWarning",
    "ignore::skpresto.exceptions.FallbackWarning",
    "ignore::skpresto.exceptions.SafeSetWarning",
)


class Killed(BaseException):
    """Stands for the end of the process."""


@pytest.fixture
def small(noisy_blobs):
    X, y, _ = noisy_blobs
    return X[:120], y[:120]


def everything(clf, X):
    """Return what a fit computed, without times."""
    records = [{**asdict(record), "seconds": 0} for record in clf.history_]
    weights = [w.numpy() for w in clf.net_.module_.state_dict().values()]
    arrays = {
        name: np.asarray(value)
        for name, value in vars(clf).items()
        if name.endswith("_") and isinstance(value, (np.ndarray, int, float))
    }
    return {
        "records": repr(records),
        "weights": [w.tobytes() for w in weights],
        "probabilities": clf.predict_proba(X).tobytes(),
        **{name: array.tobytes() for name, array in arrays.items()},
    }


def kill_after(monkeypatch, n_writes, method=FitJournal.save):
    """Let the process end after so many epochs were stored."""
    count = iter(range(1, n_writes + 1))

    def save(self, run):
        method(self, run)
        if next(count) == n_writes:
            raise Killed

    monkeypatch.setattr(FitJournal, "save", save)


def fit_with_kills(monkeypatch, clf, X, y, folder, n_epochs_each):
    """Fit in attempts of a few epochs each; return the number of kills."""
    save = FitJournal.save
    for n_kills in range(100):
        kill_after(monkeypatch, n_epochs_each, save)
        try:
            with skpresto.resumable(folder, every=0):
                clf.fit(X, y)
        except Killed:
            continue
        except StopIteration:  # pragma: no cover
            raise AssertionError("a kill did not end the fit") from None
        finally:
            monkeypatch.setattr(FitJournal, "save", save)
        return n_kills
    raise AssertionError("the fit never ended")


@pytest.mark.parametrize("classifier", CLASSIFIERS)
def test_a_killed_fit_equals_an_uninterrupted_one(
    classifier, small, tmp_path, monkeypatch
):
    clf = quick(classifier, max_epochs=7)
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
        import numpy as np, torch
        import skpresto
        from skpresto._resume import files

        folder, n_writes = sys.argv[1], int(sys.argv[2])
        written, save = [], torch.save

        def save_half(state, file):
            save(state, file)
            written.append(1)
            if len(written) == n_writes:
                file.truncate(file.tell() // 2)
                os.kill(os.getpid(), signal.SIGKILL)

        torch.save = save_half
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

    killed = attempt("killed", 4)
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


# --- bad input ---------------------------------------------------------------------


def kept_fit(folder, small, **params):
    with skpresto.resumable(folder, every=0, keep=True):
        quick(DefaultClassifier, max_epochs=2, **params).fit(*small)


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (lambda X, y: (quick(DefaultClassifier, max_epochs=2, lr=0.2), X, y), "lr"),
        (lambda X, y: (quick(PrestoppingClassifier, max_epochs=2), X, y), "class, "),
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
    with pytest.raises(ValueError, match="version of torch"):
        kept_fit(tmp_path / "fit", small)


def test_a_folder_with_other_files_is_refused(tmp_path):
    (tmp_path / "thesis.tex").write_text("")
    with (
        pytest.raises(ValueError, match="needs a folder for itself"),
        skpresto.resumable(tmp_path),
    ):
        pass


def test_a_folder_that_was_never_completed_is_used(small, tmp_path):
    (tmp_path / "skpresto-resume.json.part").write_text("{")
    with skpresto.resumable(tmp_path):
        quick(DefaultClassifier, max_epochs=1).fit(*small)
    assert not (tmp_path / "skpresto-resume.json").exists()


def test_a_folder_of_another_format_is_refused(small, tmp_path):
    kept_fit(tmp_path / "fit", small)
    files.write_json(tmp_path / "fit" / "skpresto-resume.json", {"format": 0})
    with pytest.raises(ValueError, match="another version of skpresto"):
        kept_fit(tmp_path / "fit", small)


def test_a_path_that_cannot_be_a_folder_is_refused(tmp_path):
    (tmp_path / "file").write_text("")
    with (
        pytest.raises(OSError, match="resumable cannot write to the folder"),
        skpresto.resumable(tmp_path / "file" / "fit"),
    ):
        pass


def test_two_processes_in_one_folder_are_refused(tmp_path):
    with (
        skpresto.resumable(tmp_path / "fit"),
        pytest.raises(RuntimeError, match="in use by another process"),
        skpresto.resumable(tmp_path / "fit"),
    ):
        pass


def test_a_negative_time_between_writes_is_refused(tmp_path):
    with (
        pytest.raises(ValueError, match="every to be a number of seconds"),
        skpresto.resumable(tmp_path / "fit", every=-1),
    ):
        pass


def test_a_truncated_file_is_reported(small, tmp_path):
    kept_fit(tmp_path / "fit", small)
    [state] = tmp_path.glob("fit/*/run-0001.pt")
    os.truncate(state, 100)
    with pytest.raises(ValueError, match="not a complete state .* begins anew"):
        kept_fit(tmp_path / "fit", small)


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


def test_digests_tell_values_apart():
    from skpresto._resume.fingerprint import _digest

    values = [
        None,
        1,
        "1",
        [1],
        {"a": 1},
        {"a": 2},
        np.zeros(2),
        np.zeros((1, 2)),
        torch.zeros(3),
        torch.nn.Linear,
        torch.nn.Linear(1, 1),
        np.random.RandomState(0),
        LRScheduler("StepLR", step_size=2),
        skpresto.stopping.AgreementStop(),
        skpresto.stopping.AgreementStop(margin=0),
    ]
    digests = [_digest(value) for value in values]
    assert len(set(digests)) == len(values)
