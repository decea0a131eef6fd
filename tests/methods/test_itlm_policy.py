import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from skpresto._data.batch import Batch
from skpresto._methods.itlm import LearnFromTrimmedSet


def batch_of(index, n_classes=3):
    n = len(index)
    logits, losses = torch.zeros(1, n, n_classes), torch.zeros(1, n)
    labels = torch.zeros(n, dtype=torch.long)
    return Batch(torch.tensor(index), labels, logits, losses, 0)


def naive_trim(losses, is_candidate, noise_rate):
    """Return which samples are kept, by sorting."""
    candidates = [i for i, is_one in enumerate(is_candidate) if is_one]
    n_kept = max(1, int((1 - noise_rate) * len(candidates) + 1e-9))
    smallest = sorted(candidates, key=lambda i: (losses[i], i))[:n_kept]
    return [i in smallest for i in range(len(losses))]


@given(
    rows=st.lists(
        st.tuples(st.sampled_from([0.0, 0.1, 0.5, 2.0]), st.booleans()),
        min_size=2,
        max_size=15,
    ),
    rates=st.lists(st.floats(0, 0.95), min_size=1, max_size=3),
)
def test_rounds_equal_their_naive_twin(rows, rates):
    losses, is_candidate = zip((0.3, True), *rows, strict=True)
    policy = LearnFromTrimmedSet(torch.tensor(is_candidate))
    index = list(range(len(losses)))
    # All are learned in the first round.
    assert policy.select(batch_of(index)).weights[0].tolist() == list(is_candidate)
    for rate in rates:
        policy.trim(torch.tensor(losses), rate)
        kept = naive_trim(losses, is_candidate, rate)
        assert policy.is_learned.tolist() == kept
        weights = policy.select(batch_of(index[::-1])).weights
        assert weights[0].tolist() == kept[::-1]


@pytest.mark.parametrize(
    ("noise_rate", "expected"),
    [
        (0.0, [1, 1, 1, 1, 1]),
        (0.2, [1, 1, 0, 1, 1]),
        (0.4, [1, 1, 0, 1, 0]),
        (0.5, [0, 1, 0, 1, 0]),  # floor(2.5) = 2
        (0.99, [0, 1, 0, 0, 0]),
    ],
)
def test_trimming_by_hand(noise_rate, expected):
    policy = LearnFromTrimmedSet(torch.ones(5, dtype=torch.bool))
    policy.trim(torch.tensor([0.4, 0.1, 3.0, 0.2, 0.9]), noise_rate)
    assert policy.is_learned.int().tolist() == expected
