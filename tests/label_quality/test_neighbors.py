"""Votes of nearest neighbors, compared with loops."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from skpresto._label_quality import neighbors
from skpresto._label_quality.neighbors import neighbor_votes


def cosine(a, b):
    product = sum(x * y for x, y in zip(a, b, strict=True))
    return product / (math.hypot(*a) * math.hypot(*b))


def naive_votes(features, references, labels, n_classes, k):
    votes = []
    for row in features:
        order = sorted(
            range(len(references)), key=lambda j: -cosine(row, references[j])
        )
        votes.append([sum(labels[j] == c for j in order[:k]) for c in range(n_classes)])
    return votes


@pytest.mark.parametrize("at_once", [1, 20, 1 << 24])
@given(seed=st.integers(0, 1 << 30), n=st.integers(1, 9), m=st.integers(1, 9))
def test_votes_equal_their_naive_twin(at_once, seed, n, m):
    generator = torch.Generator().manual_seed(seed)
    features, references = (
        torch.randn(size, 3, generator=generator, dtype=torch.float64)
        for size in (n, m)
    )
    labels = torch.randint(3, (m,), generator=generator)
    k = 1 + seed % m
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(neighbors, "_VALUES_AT_ONCE", at_once)
        found = neighbor_votes(features, references, labels, 3, k)
    expected = naive_votes(features.tolist(), references.tolist(), labels, 3, k)
    assert found.tolist() == expected


def test_dead_representations_have_votes():
    votes = neighbor_votes(
        torch.zeros(4, 2), torch.zeros(4, 2), torch.tensor([0, 1, 1, 0]), 2, 3
    )
    assert votes.sum(dim=1).tolist() == [3] * 4
