import numpy as np
import pytest
import torch

from skpresto import DefaultClassifier
from skpresto._data.batch import Batch
from skpresto._label_quality.trajectories import Trajectories
from skpresto._training.context import current_context, recorded_trajectories
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


def begun(n_samples):
    trajectories = Trajectories()
    trajectories.begin(n_samples)
    return trajectories


def add(trajectories, index, logits, epoch):
    """Record an epoch of one batch, with the label 0 for all."""
    index = torch.tensor(index)
    labels = torch.zeros_like(index)
    trajectories.record(Batch(index, labels, logits, logits[..., 0], epoch))
    trajectories.end_epoch()


@pytest.mark.parametrize("fold_of", [None, torch.tensor([0, 1, 1, 0, 1, 0])])
def test_the_probability_of_the_given_label_is_recorded(visits, fold_of):
    labels = torch.tensor([0, 1, 2, 3, 0, 1])
    trajectories = begun(6)
    expected = np.empty((6, 3))
    for number, (index, logits, epoch) in enumerate(visits):
        fold = None if fold_of is None else fold_of[index]
        batch = Batch(index, labels[index], logits, logits[..., 0], epoch, fold)
        trajectories.record(batch)
        if number % 2:
            trajectories.end_epoch()
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


def test_samples_that_were_held_out_are_not_a_number():
    trajectories = begun(6)
    add(trajectories, [1, 4], torch.zeros(1, 2, 4), epoch=0)
    found = trajectories.probabilities()
    assert np.isnan(found[:, 0]).tolist() == [True, False, True, True, False, True]
    assert found[1, 0] == pytest.approx(0.25, abs=1 / 254)


def test_an_epoch_that_is_repeated_replaces_it_and_later_ones():
    trajectories = begun(2)
    for epoch, logit in enumerate([0.0, 0.0, 0.0]):
        add(trajectories, [0, 1], torch.full((1, 2, 4), logit), epoch)
    logits = torch.zeros(1, 2, 4)
    logits[..., 0] = 50.0
    add(trajectories, [0, 1], logits, epoch=1)
    found = trajectories.probabilities()
    assert found.shape == (2, 2)
    assert found[:, 1].tolist() == [1.0, 1.0]


def test_nothing_is_recorded_without_request():
    assert current_context().trajectories is None
    with recorded_trajectories() as trajectories:
        assert current_context().trajectories is trajectories
    assert current_context().trajectories is None


def test_methods_without_phases_leave_no_trajectories(noisy_blobs):
    X, y, _ = noisy_blobs
    with recorded_trajectories() as trajectories:
        quick(DefaultClassifier, max_epochs=1).fit(X, y)
    assert trajectories.probabilities() is None
