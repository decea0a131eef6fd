"""SSR's division and loss, by hand and by loops."""

import math
from fractions import Fraction

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from skpresto._data.augment import Augment
from skpresto._data.batch import Batch
from skpresto._data.mixup import Mixup, drawn_partners
from skpresto._methods._neighbor_division import NeighborDivision, balancing_weights
from skpresto._methods.ssr import SelectByNeighbors
from tests.label_quality.test_neighbors import naive_votes


def softmax(row):
    exponentials = [math.exp(z - max(row)) for z in row]
    return [e / sum(exponentials) for e in exponentials]


def naive_division(given_labels, features, logits, relabel, select, k):
    """Return labels and which are clean, as the release computes them."""
    labels = []
    for label, row in zip(given_labels, logits, strict=True):
        p = softmax(row)
        labels.append(p.index(max(p)) if max(p) > relabel else label)
    n_classes = len(logits[0])
    votes = naive_votes(features, features, labels, n_classes, k)
    is_clean = []
    for label, counted in zip(labels, votes, strict=True):
        balanced = [
            Fraction(int(count), max(1, labels.count(c)))
            for c, count in enumerate(counted)
        ]
        is_clean.append(balanced[label] / max(balanced) >= select)
    return labels, is_clean


@given(
    seed=st.integers(0, 1 << 30),
    n=st.integers(6, 12),
    relabel=st.sampled_from([0.0, 0.6, 0.9, 1.0]),
    select=st.sampled_from([0.0, 0.37, 0.77, 1.0]),
)
def test_division_equals_its_naive_twin(seed, n, relabel, select):
    generator = torch.Generator().manual_seed(seed)
    features = torch.randn(n, 3, generator=generator, dtype=torch.float64)
    logits = 3 * torch.randn(n, 3, generator=generator, dtype=torch.float64)
    labels = torch.randint(3, (n,), generator=generator)
    # At most half of the mean number of samples per class.
    k = min(1 + seed % 3, n // 6)
    division = NeighborDivision(relabel, select, 1 + seed % 3)
    found = division(labels, features, logits)
    expected = naive_division(
        labels.tolist(), features.tolist(), logits.tolist(), relabel, select, k
    )
    assert tuple(part.tolist() for part in found) == expected


def test_neighbors_are_searched_among_some_of_many_samples():
    X = torch.randn(400, 2)
    labels = (X[:, 0] > 0).long()
    logits = torch.zeros(400, 2)
    for n_references in (None, 400, 100, 1):
        learned, is_clean = NeighborDivision(0.9, 1.0, 40, n_references)(
            labels, X, logits
        )
        assert torch.equal(learned, labels)
        assert n_references == 1 or is_clean.float().mean() > 0.9


def test_classes_have_the_same_weight_among_clean_samples():
    labels = torch.tensor([0, 0, 0, 0, 1, 2, 2])
    is_clean = torch.tensor([True, True, True, False, True, False, False])
    weights = balancing_weights(labels, is_clean)
    assert weights[:4].tolist() == pytest.approx([4 / 6] * 4)
    assert weights[4].item() == 2
    assert (weights * is_clean).sum().item() == is_clean.sum()


def cross_entropy(logits, labels):
    return torch.nn.functional.cross_entropy(logits[0], labels, reduction="none")


@pytest.mark.parametrize("augment", [None, Augment(lambda X: X + torch.rand(1))])
def test_loss_equals_its_naive_twin(augment):
    """Cross-entropy of mixed targets, the mean over clean samples of each class."""
    n, n_views = 6, 1 if augment is None else 2
    X, W = torch.randn(n, 2), torch.randn(2, 3)
    labels = torch.tensor([0, 1, 2, 0, 1, 2])
    learned, is_clean = labels.roll(2), torch.tensor([1, 1, 0, 1, 1, 0]).bool()
    applied = []

    def view(change):
        applied.append(change(X))
        return (applied[0] @ W).unsqueeze(0)

    policy = SelectByNeighbors(
        labels,
        lambda: (torch.arange(n), X, torch.zeros(n, 3)),
        cross_entropy,
        lambda *args: (learned, is_clean),
        Mixup(augment),
    )
    policy.divide()
    assert torch.equal(policy.selected, is_clean & (learned == labels))
    losses = torch.zeros(1, n)
    batch = Batch(torch.arange(n), labels, torch.zeros(1, n, 3), losses, 0, view=view)
    torch.manual_seed(1)
    selection = policy.select(batch)
    found = selection.objective(batch.logits, losses)

    torch.manual_seed(1)
    partners = drawn_partners(is_clean.repeat(n_views)).tolist()
    weight = Mixup(None).drawn_weight()
    targets = torch.eye(3)[learned].repeat(n_views, 1)
    expected = [0.0] * n
    for i, z in enumerate(applied[0] @ W):
        log_p, j = torch.log_softmax(z, 0), partners[i]
        expected[i % n] -= weight * (targets[i] @ log_p).item() / n_views
        expected[j % n] -= (1 - weight) * (targets[j] @ log_p).item() / n_views
    assert found[0].tolist() == pytest.approx(expected, rel=1e-4)
    # Labels of clean samples are 1, 2, 1 and 2.
    assert selection.weights.tolist() == [[1, 1, 0, 1, 1, 0]]
