import numpy as np
import pytest
import torch

from skpresto import DefaultClassifier
from skpresto._label_quality.trajectories import (
    Trajectories,
    also_recorded,
    begin_trajectories,
    recorded_trajectories,
)
from tests.discovery import quick


@pytest.fixture
def visits():
    """Batches of six samples in three epochs: index, logits of two networks, epoch."""
    generator = torch.Generator().manual_seed(0)
    return [
        (index, torch.randn(2, len(index), 4, generator=generator), epoch)
        for epoch in range(3)
        for index in torch.randperm(6, generator=generator).split(4)
    ]


@pytest.mark.parametrize("fold_of", [None, torch.tensor([0, 1, 1, 0, 1, 0])])
def test_the_probability_of_the_given_label_is_recorded(visits, fold_of):
    labels = torch.tensor([0, 1, 2, 3, 0, 1])
    trajectories = Trajectories()
    trajectories.begin(labels, fold_of)
    expected = np.empty((6, 3))
    for index, logits, epoch in visits:
        trajectories.add(index, logits, epoch)
        for position, sample in enumerate(index.tolist()):
            given = [
                torch.softmax(network[position], dim=0)[labels[sample]].item()
                for network in logits
            ]
            out_of_fold = None if fold_of is None else given[fold_of[sample]]
            expected[sample, epoch] = np.mean(given) if fold_of is None else out_of_fold
    found = trajectories.probabilities()
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, expected, atol=0.5 / 254 + 1e-6)


def test_samples_that_were_held_out_are_not_a_number(visits):
    trajectories = Trajectories()
    trajectories.begin(torch.zeros(6, dtype=torch.int64))
    trajectories.add(torch.tensor([1, 4]), torch.zeros(1, 2, 4), epoch=1)
    found = trajectories.probabilities()
    assert np.isnan(found[:, 0]).all()
    assert np.isnan(found[:, 1]).tolist() == [True, False, True, True, False, True]
    assert found[1, 1] == pytest.approx(0.25, abs=1 / 254)


def test_an_epoch_that_is_repeated_is_replaced():
    trajectories = Trajectories()
    trajectories.begin(torch.zeros(2, dtype=torch.int64))
    both = torch.tensor([0, 1])
    for logit in (0.0, 50.0):
        logits = torch.zeros(1, 2, 4)
        logits[..., 0] = logit
        trajectories.add(both, logits, epoch=0)
    assert trajectories.probabilities().tolist() == [[1.0], [1.0]]


def test_nothing_is_recorded_without_request():
    observe = object()
    assert also_recorded(observe) is observe
    assert begin_trajectories(torch.zeros(2)) is None
    with recorded_trajectories() as trajectories:
        assert also_recorded(None) == trajectories.add
    assert also_recorded(None) is None


def test_methods_without_phases_leave_no_trajectories(noisy_blobs):
    X, y, _ = noisy_blobs
    with recorded_trajectories() as trajectories:
        quick(DefaultClassifier, max_epochs=1).fit(X, y)
    assert trajectories.probabilities() is None
