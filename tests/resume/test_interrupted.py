"""Ctrl-C inside of both blocks, and searches that halve their candidates."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.model_selection import HalvingGridSearchCV
from skorch.callbacks import Callback

import skpresto
from skpresto import DefaultClassifier, PrestoppingClassifier
from skpresto.exceptions import ResumeWarning
from tests.discovery import on_paths, quick
from tests.resume.kills import everything, fit_with_kills

pytestmark = pytest.mark.filterwarnings(
    "ignore:.*was settled",
    "ignore::skpresto.exceptions.FallbackWarning",
    "ignore::skpresto.exceptions.SafeSetWarning",
)

SHORT = {"max_epochs": 6, "q": 3}


class CtrlC(Callback):
    """Press Ctrl-C once, in a batch of an epoch."""

    is_pressed_ = False

    def __init__(self, epoch):
        self.epoch = epoch

    def on_batch_end(self, net, **kwargs):
        if len(net.history) == self.epoch and not self.is_pressed_:
            self.is_pressed_ = True
            raise KeyboardInterrupt


@on_paths()
def test_an_interrupted_fit_is_kept_and_completed_by_the_next_run(
    Classifier, small, tmp_path
):
    X, y = small
    expected = quick(Classifier, **SHORT, callbacks=[CtrlC(99)]).fit(X, y)
    clf = quick(Classifier, **SHORT, callbacks=[CtrlC(4)])
    with (
        pytest.warns(ConvergenceWarning, match="was interrupted in the stage"),
        pytest.warns(ResumeWarning, match="is kept, since a fit .* was interrupted"),
        skpresto.resumable(tmp_path / "fit", every=0),
        skpresto.keep_interrupted(),
    ):
        clf.fit(X, y)
    assert clf.is_interrupted_
    assert clf.predict_proba(X).shape == (len(X), 4)
    [status] = skpresto.resume_status(tmp_path / "fit")
    assert status.classifier == Classifier.__name__
    with skpresto.keep_interrupted(), skpresto.resumable(tmp_path / "fit", every=0):
        clf.fit(X, y)
    assert not clf.is_interrupted_
    assert everything(clf, X) == everything(expected, X)
    assert not (tmp_path / "fit").exists()


def test_ctrl_c_without_keeping_leaves_the_folder(small, tmp_path):
    clf = quick(DefaultClassifier, max_epochs=6, callbacks=[CtrlC(4)])
    with pytest.raises(KeyboardInterrupt), skpresto.resumable(tmp_path / "f", every=0):
        clf.fit(*small)
    [status] = skpresto.resume_status(tmp_path / "f")
    assert (status.stage, status.n_epochs) == ("train", 3)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_successive_halving_over_epochs_goes_on(small, tmp_path, monkeypatch):
    """Candidates train for 2 epochs, the better half for 4, the best one for 8."""
    search = HalvingGridSearchCV(
        quick(PrestoppingClassifier),
        {"lr": [0.3, 0.03, 0.003, 1e-4]},
        resource="max_epochs",
        min_resources=2,
        max_resources=8,
        factor=2,
        cv=2,
        random_state=0,
    )
    expected = clone(search).fit(*small)
    assert expected.n_resources_ == [2, 4, 8]
    n_kills = fit_with_kills(monkeypatch, search, *small, tmp_path / "search", 9)
    assert n_kills >= 3
    for name in ("mean_test_score", "rank_test_score", "n_resources", "iter"):
        np.testing.assert_array_equal(
            search.cv_results_[name], expected.cv_results_[name], err_msg=name
        )
    best, X = search.best_estimator_, small[0]
    assert everything(best, X) == everything(expected.best_estimator_, X)
