import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from skpresto import ActiveBiasClassifier
from skpresto._data.batch import Batch
from skpresto._methods.active_bias import EmphasizeUncertain
from tests.discovery import quick


def batch_of(index, probabilities, epoch=5):
    """Return a batch of two classes in which label 0 has the given probabilities."""
    given_p = torch.tensor(probabilities, dtype=torch.float64)
    logits = torch.stack([given_p.log(), (1 - given_p).log()], dim=1).unsqueeze(0)
    labels = torch.zeros(len(index), dtype=torch.long)
    losses = torch.zeros(1, len(index), dtype=torch.float64)
    return Batch(torch.tensor(index), labels, logits, losses, epoch)


def naive_weight(probabilities, smoothness):
    if len(probabilities) < 2:
        return smoothness
    variance = np.var(probabilities)
    return np.sqrt(variance + variance**2 / (len(probabilities) - 1)) + smoothness


def test_weights_by_hand():
    policy = EmphasizeUncertain(1, smoothness=0.2, warm_up=0)
    for probability in (0.2, 0.4, 0.9):
        policy.select(batch_of([0], [probability]))
        policy.end_epoch()
    # Mean 0.5, variance (0.09 + 0.01 + 0.16) / 3 = 0.086667, and 0.086667^2 / 2.
    weight = policy.select(batch_of([0], [0.5])).weights.item()
    assert weight == pytest.approx(0.2 + np.sqrt(0.0866667 + 0.0037556), abs=1e-5)


@given(
    visits=st.lists(
        st.tuples(
            st.lists(st.integers(0, 4), min_size=1, max_size=5, unique=True),
            st.lists(st.floats(0.01, 0.99), min_size=5, max_size=5),
        ),
        min_size=1,
        max_size=12,
    ),
    smoothness=st.floats(0.01, 1),
)
def test_weights_equal_those_of_a_naive_twin(visits, smoothness):
    policy = EmphasizeUncertain(5, smoothness, warm_up=0)
    seen = [[] for _ in range(5)]
    for index, probabilities in visits:
        selection = policy.select(batch_of(index, probabilities[: len(index)]))
        expected = [[naive_weight(seen[i], smoothness) for i in index]]
        np.testing.assert_allclose(selection.weights.numpy(), expected, atol=2e-4)
        policy.end_epoch()
        for i, probability in zip(index, probabilities, strict=False):
            seen[i].append(probability)


def test_visits_of_one_epoch_are_recorded_in_their_order():
    twice, apart = (EmphasizeUncertain(2, smoothness=0.2, warm_up=0) for _ in range(2))
    for probability in (0.2, 0.9):  # as a sampler with replacement draws
        twice.select(batch_of([0, 1], [probability, 0.3]))
        apart.select(batch_of([0, 1], [probability, 0.3]))
        apart.end_epoch()
    twice.end_epoch()
    both = [policy.select(batch_of([0, 1], [0.5, 0.5])) for policy in (twice, apart)]
    assert torch.equal(*(selection.weights for selection in both))


def test_all_samples_weigh_the_same_in_the_warm_up():
    policy = EmphasizeUncertain(2, smoothness=0.2, warm_up=3)
    for epoch in range(3):
        assert policy.select(batch_of([0, 1], [0.2, 0.9], epoch)).weights is None
    assert policy.select(batch_of([0, 1], [0.2, 0.9], 3)).weights is not None


def test_emphasis_changes_the_training(noisy_blobs):
    X, y, _ = noisy_blobs
    early, late = (
        quick(ActiveBiasClassifier, warm_up=warm_up).fit(X, y) for warm_up in (1, 11)
    )
    assert not np.array_equal(early.predict_proba(X), late.predict_proba(X))
