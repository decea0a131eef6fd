import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from skpresto._training.label_history import LabelHistory
from skpresto._training.weighted_vote import WeightedVote
from tests.training.naive import both_histories

N_CLASSES = 3


@st.composite
def judged(draw):
    """Draw visits, labels, a noise matrix and a trust."""
    n_samples, length = draw(st.integers(1, 6)), draw(st.integers(1, 6))
    classes = st.integers(0, N_CLASSES - 1)
    indices = st.lists(st.integers(0, n_samples - 1), unique=True, min_size=1)
    batches = [
        (index, [draw(classes) for _ in index])
        for index in draw(st.lists(indices, max_size=10))
    ]
    labels = [draw(classes) for _ in range(n_samples)]
    shares = st.integers(1, 9)
    rows = [[draw(shares) for _ in range(N_CLASSES)] for _ in range(N_CLASSES)]
    noise = torch.tensor(rows, dtype=torch.float64)
    noise /= noise.sum(dim=1, keepdim=True)
    return n_samples, length, batches, labels, noise, draw(st.floats(0.05, 0.95))


def probability(naive, i, label, noise):
    """Return how likely a label is right, by Bayes' rule and by counting."""
    shares = naive.frequencies(i)
    parts = {j: share * noise[j, label].item() for j, share in shares.items()}
    return parts.get(label, 0.0) / sum(parts.values())


@given(judged())
def test_a_label_is_trusted_if_it_is_likely_by_bayes_rule(drawn):
    n_samples, length, batches, labels, noise, trust = drawn
    history, naive = both_histories(n_samples, N_CLASSES, length, batches)
    agrees = WeightedVote(history, noise, trust).agrees(torch.tensor(labels))
    for i, (found, label) in enumerate(zip(agrees.tolist(), labels, strict=True)):
        if not naive.entries[i]:
            assert not found
            continue
        likely = probability(naive, i, label, noise)
        if abs(likely - trust) > 1e-4:  # scores are rounded
            assert found == (likely > trust)


@given(judged())
def test_the_last_batch_is_judged_as_all_samples_are(drawn):
    n_samples, length, batches, labels, noise, trust = drawn
    history, _ = both_histories(n_samples, N_CLASSES, length, batches)
    vote, labels = WeightedVote(history, noise, trust), torch.tensor(labels)
    for index, _ in batches[-1:]:
        of_batch = vote.agrees_of_batch(labels[index])
        assert of_batch.shape == (1, len(index))
        assert of_batch.bool()[0].tolist() == vote.agrees(labels)[index].tolist()


@given(judged(), st.integers(1, 4))
def test_expecting_visits_changes_no_score(drawn, n_epochs):
    n_samples, length, _, labels, noise, trust = drawn
    labels = torch.tensor(labels)
    plain, patient = (LabelHistory(n_samples, N_CLASSES, length) for _ in range(2))
    scores = WeightedVote(plain, noise, trust).scores
    for epoch in range(n_epochs):
        index = list(torch.randperm(n_samples).split(2))
        patient.expect(index, known := [labels[i] for i in index])
        for i, their_labels in zip(index, known, strict=True):
            for history in (plain, patient):
                history.record(i, (i + epoch) % N_CLASSES)
            expected = plain.score_of_batch(scores, labels[i])
            assert torch.equal(patient.score_of_batch(scores, their_labels), expected)


@given(judged())
def test_the_most_likely_class_is_that_of_the_heaviest_votes(drawn):
    n_samples, length, batches, labels, noise, trust = drawn
    history, naive = both_histories(n_samples, N_CLASSES, length, batches)
    found = WeightedVote(history, noise, trust).vote(torch.tensor(labels)).tolist()
    for i, label in enumerate(labels):
        entries = naive.entries[i]
        if not entries:
            assert found[i] == -1
            continue
        weights = {j: entries.count(j) * noise[j, label].item() for j in entries}
        assert weights[found[i]] == pytest.approx(max(weights.values()))


@given(judged())
def test_what_is_trusted_at_a_half_or_more_is_the_most_likely_class(drawn):
    n_samples, length, batches, labels, noise, trust = drawn
    history, _ = both_histories(n_samples, N_CLASSES, length, batches)
    vote = WeightedVote(history, noise, max(trust, 0.51))
    labels = torch.tensor(labels)
    is_trusted = vote.agrees(labels)
    assert (vote.vote(labels) == labels)[is_trusted].all()


@given(judged(), st.floats(0.01, 0.9))
def test_a_higher_trust_never_trusts_more(drawn, factor):
    n_samples, length, batches, labels, noise, trust = drawn
    history, _ = both_histories(n_samples, N_CLASSES, length, batches)
    labels = torch.tensor(labels)
    high = WeightedVote(history, noise, trust).agrees(labels)
    low = WeightedVote(history, noise, factor * trust).agrees(labels)
    assert (high <= low).all()


def test_a_rare_mistake_needs_less_in_favour_than_a_common_one():
    history = LabelHistory(2, n_classes=3, length=5)
    for predicted in (0, 0, 0, 0, 2):
        history.record(torch.arange(2), torch.tensor([predicted, 1 + predicted // 2]))
    labels = torch.tensor([2, 2])  # predicted once, against four times 0, four times 1
    common, rare = 0.4, 0.01
    noise = torch.tensor([[0.59, common, rare], [rare, 0.59, common], [0.2, 0.2, 0.6]])
    assert WeightedVote(history, noise, 0.5).agrees(labels).tolist() == [True, False]


def test_noise_is_counted_from_votes_and_labels():
    history = LabelHistory(5, n_classes=2, length=3)
    history.record(torch.arange(4), torch.tensor([0, 0, 0, 1]))  # the fifth is unseen
    labels = torch.tensor([0, 0, 1, 1, 0])
    found = WeightedVote.estimated(history, labels, 0.5).noise
    # One more sample of each class is labelled half and half.
    expected = torch.tensor([[2.5 / 4, 1.5 / 4], [0.5 / 2, 1.5 / 2]])
    assert torch.allclose(found, expected.double())
