"""Mixup: which rows are mixed, with what, and which ones cannot be."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from skpresto._data.augment import Augment
from skpresto._data.mixup import Mixed, Mixup, can_mix, drawn_partners


def seen_by(mixup, features, partners, **kwargs):
    """Return what the networks are applied to, and the weight."""
    seen = []

    def view(change):
        seen.append(change(features))
        return torch.zeros(1)

    outputs = mixup.outputs(view, partners, **kwargs)
    assert torch.equal(outputs.partners, partners)
    return seen[0], outputs.weight


@given(
    is_member=st.lists(st.booleans(), min_size=1, max_size=12), seed=st.integers(0, 99)
)
def test_members_are_mixed_with_members(is_member, seed):
    torch.manual_seed(seed)
    is_member = torch.tensor(is_member)
    partners = drawn_partners(is_member)
    assert sorted(partners.tolist()) == list(range(len(is_member)))
    assert torch.equal(is_member[partners], is_member)


def test_all_partners_are_drawn():
    is_member = torch.tensor([True, False, True, True])
    drawn = {tuple(drawn_partners(is_member).tolist()) for _ in range(200)}
    assert len(drawn) == 6  # permutations of three members


def test_weights_are_those_of_the_larger_part():
    torch.manual_seed(0)
    weights = torch.tensor([Mixup(None).drawn_weight() for _ in range(2000)])
    assert weights.min() >= 0.5
    # The mean of max(w, 1 - w) of a Beta(4, 4) is 163 / 256.
    assert weights.mean().item() == pytest.approx(163 / 256, abs=0.01)


def test_rows_are_mixed_by_loops(monkeypatch):
    monkeypatch.setattr(Mixup, "drawn_weight", lambda self: 0.75)
    X = {"left": torch.rand(3, 2), "right": torch.rand(3, 1, 4)}
    partners = [2, 1, 0]
    mixed, weight = seen_by(Mixup(None), X, torch.tensor(partners))
    assert weight == 0.75
    for name, part in X.items():
        for i, j in enumerate(partners):
            expected = 0.75 * part[i] + 0.25 * part[j]
            torch.testing.assert_close(mixed[name][i], expected)


def test_two_views_are_mixed_as_one_batch(monkeypatch):
    monkeypatch.setattr(Mixup, "drawn_weight", lambda self: 0.75)
    count = iter([10.0, 20.0])
    mixup = Mixup(Augment(lambda X: X + next(count)))
    X = torch.tensor([[1.0], [2.0]])
    mixed, _ = seen_by(mixup, X, torch.tensor([3, 2, 1, 0]))
    views = [11.0, 12.0, 21.0, 22.0]
    expected = [[0.75 * a + 0.25 * b] for a, b in zip(views, views[::-1], strict=True)]
    torch.testing.assert_close(mixed, torch.tensor(expected))


def test_views_that_are_kept_are_made_once_and_cannot_be_changed():
    views = Mixup(Augment(lambda X: X + torch.rand(1))).kept_views()
    X = torch.zeros(2, 1)
    first = views(X)
    expected = first.clone()
    first.zero_()
    assert torch.equal(views(X), expected)


@pytest.mark.parametrize(
    "features",
    [
        torch.ones(3, 2, dtype=torch.int64),
        {"words": torch.ones(3, 2, dtype=torch.int64), "length": torch.ones(3)},
        torch.ones(2, 3),  # rows in the second place
        [torch.ones(3, 2), "three names"],
    ],
)
def test_other_rows_are_left_as_they_are(features):
    assert not can_mix(features, 3)
    seen, weight = seen_by(Mixup(None), features, torch.tensor([2, 0, 1]))
    assert weight == 1
    assert seen is features


@pytest.mark.parametrize("n_networks", [1, 2])
def test_losses_are_added_to_the_samples_whose_target_it_is(n_networks):
    logits = torch.randn(n_networks, 4, 3)
    labels, partners = torch.tensor([0, 1, 2, 0]), [2, 0, 3, 1]
    scale = torch.rand(n_networks, 4)
    mixed = Mixed(logits, torch.tensor(partners), 0.7)

    def losses_of(logits, labels):
        labels = labels.expand(logits.shape[:2]).flatten()
        return torch.nn.functional.cross_entropy(
            logits.flatten(0, 1), labels, reduction="none"
        )

    found = mixed.losses(losses_of, labels, scale)
    expected = torch.zeros(n_networks, 4)
    for k in range(n_networks):
        log_p = torch.log_softmax(logits[k], dim=1)
        for i, j in enumerate(partners):
            expected[k, i] -= scale[k, i] * 0.7 * log_p[i, labels[i]]
            expected[k, j] -= scale[k, i] * 0.3 * log_p[i, labels[j]]
    torch.testing.assert_close(found, expected)
