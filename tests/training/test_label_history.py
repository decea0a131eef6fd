import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from skpresto._training import label_history
from skpresto._training.label_history import LabelHistory
from tests.training.naive import NaiveLabelHistory


@st.composite
def visits(draw):
    """Draw a history's size and a sequence of batches, each of distinct samples."""
    n_samples = draw(st.integers(1, 8))
    n_classes = draw(st.sampled_from([2, 3, 5, 256, 300]))
    length = draw(st.integers(1, 6))
    batches = draw(
        st.lists(
            st.lists(st.integers(0, n_samples - 1), unique=True, min_size=1),
            max_size=12,
        )
    )
    labels = st.integers(max(0, n_classes - 3), n_classes - 1)
    predicted = [[draw(labels) for _ in batch] for batch in batches]
    return n_samples, n_classes, length, list(zip(batches, predicted, strict=True))


def both_histories(drawn):
    """Return the history and its twin after the same visits."""
    n_samples, n_classes, length, batches = drawn
    ours = LabelHistory(n_samples, n_classes, length)
    ours.has_repeated_visits = True
    naive = NaiveLabelHistory(n_samples, length)
    for index, predicted in batches:
        ours.record(torch.tensor(index), torch.tensor(predicted))
        naive.record(index, predicted)
    return ours, naive


@given(visits())
def test_vote_and_agreement_equal_those_of_the_naive_twin(drawn):
    n_samples, n_classes = drawn[:2]
    ours, naive = both_histories(drawn)
    assert ours.vote().tolist() == [naive.vote(i) for i in range(n_samples)]
    for label in range(max(0, n_classes - 3), n_classes):
        expected = [naive.agreement(i, label) for i in range(n_samples)]
        labels = torch.full((n_samples,), label)
        assert ours.agreement(labels).tolist() == pytest.approx(expected)


@given(visits())
def test_questions_about_the_last_batch_include_that_batch(drawn):
    ours, naive = both_histories(drawn)
    for index, _ in drawn[3][-1:]:
        assert ours.vote_of_batch().tolist() == [naive.vote(i) for i in index]
        shares = ours.frequencies_of_batch()
        for column, i in enumerate(index):
            expected = sorted(naive.frequencies(i).values())
            found = sorted(share for share in shares[:, column].tolist() if share > 0)
            assert found == pytest.approx(expected)


@given(visits())
def test_putting_visits_aside_changes_no_answer(drawn):
    n_samples, n_classes, length, batches = drawn
    ours, _ = both_histories(drawn)
    patient = LabelHistory(n_samples, n_classes, length)
    seen: set[int] = set()
    for index, predicted in batches:
        if seen & set(index):  # as at the end of an epoch
            patient.settle()
            seen.clear()
        seen |= set(index)
        patient.record(torch.tensor(index), torch.tensor(predicted))
    assert patient.vote().tolist() == ours.vote().tolist()
    assert all(map(torch.equal, patient.state(), ours.state()))


@given(visits(), st.permutations(range(3)))
def test_renaming_the_classes_renames_the_votes(drawn, renamed):
    n_samples, _, length, batches = drawn
    to_three = [(index, [p % 3 for p in predicted]) for index, predicted in batches]
    plain, _ = both_histories((n_samples, 3, length, to_three))
    other = [(index, [renamed[p] for p in predicted]) for index, predicted in to_three]
    moved, _ = both_histories((n_samples, 3, length, other))
    expected = [-1 if v == -1 else renamed[v] for v in plain.vote().tolist()]
    assert moved.vote().tolist() == expected


@given(visits())
def test_restoring_a_state_undoes_later_visits(drawn):
    ours, _ = both_histories(drawn)
    before, votes = ours.state(), ours.vote()
    ours.record(torch.tensor([0]), torch.tensor([drawn[1] - 1]))
    ours.restore(before)
    assert torch.equal(ours.vote(), votes)
    assert all(map(torch.equal, ours.state(), before))


def test_a_tie_goes_to_the_class_predicted_last():
    history = LabelHistory(1, n_classes=3, length=4)
    history.has_repeated_visits = True
    votes = []
    for predicted in (2, 2, 0, 0, 2, 0):
        history.record(torch.tensor([0]), torch.tensor([predicted]))
        votes.append(history.vote().item())
    assert votes == [2, 2, 2, 0, 2, 0]


def test_a_million_samples_take_eleven_megabytes():
    history = LabelHistory(1_000_000, n_classes=256, length=10)
    assert history.nbytes == 11_000_000


def test_many_visits_are_entered_in_several_goes(monkeypatch):
    monkeypatch.setattr(label_history, "_SAMPLES_AT_ONCE", 3)
    history = LabelHistory(10, n_classes=5, length=2)
    for start in range(0, 10, 2):
        index = torch.arange(start, start + 2)
        history.record(index, index % 5)
    assert history.vote().tolist() == [0, 1, 2, 3, 4] * 2
    assert history.is_visited().all()


@pytest.mark.parametrize("length", [254, 255, 256, 300])
def test_long_histories_count_beyond_a_byte(length):
    history = LabelHistory(1, n_classes=2, length=length)
    history.has_repeated_visits = True
    for visit in range(length + 5):
        history.record(torch.tensor([0]), torch.tensor([int(visit >= length)]))
    assert history.vote().item() == 0
    share = history.agreement(torch.tensor([1])).item()
    assert share == pytest.approx(5 / length)
