"""JoCoR and Decouple, the baselines with two networks."""

import numpy as np
import pytest
import torch
from torch import nn

from skpresto.baselines import DecoupleClassifier, JoCoRClassifier
from tests.discovery import MEMORIZING, quick

BOTH = pytest.mark.parametrize("Classifier", [DecoupleClassifier, JoCoRClassifier])


@BOTH
def test_wrong_labels_are_memorized_less(memorizable, plain, Classifier):
    X, y, _, X_test, y_test = memorizable
    clf = quick(Classifier, **MEMORIZING).fit(X, y)
    assert clf.score(X_test, y_test) > plain.score(X_test, y_test) + 0.05


def test_selection_is_cleaner_than_the_data(memorizable):
    X, y, y_true, _, _ = memorizable
    clf = quick(JoCoRClassifier, **MEMORIZING, noise_rate=0.35).fit(X, y)
    assert clf.noise_rate_ == 0.35
    assert clf.safe_mask_.mean() == pytest.approx(0.65, abs=0.03)
    assert (y == y_true)[clf.safe_mask_].mean() > 0.9


def test_unknown_noise_rate_is_estimated(noisy_blobs):
    X, y, y_true = noisy_blobs
    params = {"max_epochs": 25, "batch_size": 32, "module__hidden": (32,)}
    clf = quick(JoCoRClassifier, **params, noise_rate=None).fit(X, y)
    assert abs(clf.noise_rate_ - np.mean(y != y_true)) < 0.1
    stages = {record.stage for record in clf.history_}
    assert stages == {"noise rate phase 1", "noise rate phase 2", "train"}


def test_disagreement_is_recorded(blobs):
    X, y = blobs
    clf = quick(DecoupleClassifier, warm_up=2).fit(X, y)
    later = clf.history_[2:]
    assert all(0 <= r.disagreement_fraction < 1 for r in later)
    assert all(
        r.selected_fraction == pytest.approx(r.disagreement_fraction) for r in later
    )
    assert [r.selected_fraction for r in clf.history_[:2]] == [1, 1]


def test_networks_that_agree_everywhere_learn_nothing(blobs):
    X, y = blobs

    class Constant(nn.Linear):
        def forward(self, X):
            return super().forward(X) * 0 + torch.tensor([5.0, 0, 0, 0])

    clf = DecoupleClassifier(Constant(2, 4), warm_up=1, max_epochs=3, batch_size=50)
    clf.fit(X, y)
    assert [record.n_skipped_batches for record in clf.history_] == [0, 8, 8]
