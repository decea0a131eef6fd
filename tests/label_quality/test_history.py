import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from skpresto._data.batch import Batch
from skpresto._label_quality import history as module
from skpresto._label_quality import votes
from skpresto._label_quality.history import PredictionHistory
from tests.naive import both_histories


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


@given(visits())
def test_vote_and_agreement_equal_those_of_the_naive_twin(drawn):
    n_samples, n_classes = drawn[:2]
    ours, naive = both_histories(*drawn)
    assert ours.vote().tolist() == [naive.vote(i) for i in range(n_samples)]
    for label in range(max(0, n_classes - 3), n_classes):
        expected = [naive.agreement(i, label) for i in range(n_samples)]
        labels = torch.full((n_samples,), label)
        assert ours.agreement(labels).tolist() == pytest.approx(expected)


@given(visits())
def test_questions_about_the_last_batch_include_that_batch(drawn):
    ours, naive = both_histories(*drawn)
    for index, _ in drawn[3][-1:]:
        assert ours.vote_of_batch().tolist() == [naive.vote(i) for i in index]
        fractions = ours.frequencies_of_batch()
        for column, i in enumerate(index):
            expected = sorted(naive.frequencies(i).values())
            found = sorted(
                fraction for fraction in fractions[:, column].tolist() if fraction > 0
            )
            assert found == pytest.approx(expected)


def epochs_of(batches):
    """Cut batches into runs in which no sample occurs twice."""
    run, seen = [], set()
    for index, predicted in batches:
        if seen & set(index):
            yield run
            run, seen = [], set()
        run.append((torch.tensor(index), torch.tensor(predicted)))
        seen |= set(index)
    yield run


@given(visits(), st.integers(1, 9), st.randoms(use_true_random=False))
def test_expecting_visits_changes_no_answer(drawn, read_ahead, random):
    n_samples, n_classes, length, batches = drawn
    ours, patient = (PredictionHistory(n_samples, n_classes, length) for _ in range(2))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_READ_AHEAD", read_ahead)
        for run in epochs_of(batches):
            patient.expect([index for index, _ in run])
            for index, predicted in run:
                answers = []
                for history in (ours, patient):
                    history.add(index, predicted)
                    answers.append(
                        (
                            history.vote_of_batch(),
                            history.frequencies_of_batch(),
                            history.is_full_of_batch(),
                        )
                    )
                assert all(map(torch.equal, *answers))
                if random.random() < 0.1:  # a question about all samples
                    assert torch.equal(patient.vote(), ours.vote())
    states = [history.state_dict() for history in (ours, patient)]
    assert all(torch.equal(states[0][name], states[1][name]) for name in states[0])


def test_several_networks_are_recorded_by_their_mean_probability():
    history = PredictionHistory(2, n_classes=3, length=2)
    logits = torch.tensor([[[0.0, 1, 0], [0, 9, 0]], [[5.0, 0, 0], [0, 0, 1]]])
    index = torch.arange(2)
    history.record(Batch(index, index, logits, torch.zeros(2, 2), 0))
    assert history.vote().tolist() == [0, 1]


@given(visits(), st.permutations(range(3)))
def test_renaming_the_classes_renames_the_votes(drawn, renamed):
    n_samples, _, length, batches = drawn
    to_three = [(index, [p % 3 for p in predicted]) for index, predicted in batches]
    plain, _ = both_histories(n_samples, 3, length, to_three)
    other = [(index, [renamed[p] for p in predicted]) for index, predicted in to_three]
    moved, _ = both_histories(n_samples, 3, length, other)
    expected = [-1 if v == -1 else renamed[v] for v in plain.vote().tolist()]
    assert moved.vote().tolist() == expected


@given(visits())
def test_restoring_a_state_undoes_later_visits(drawn):
    ours, _ = both_histories(*drawn)
    before, votes = ours.state_dict(), ours.vote()
    ours.add(torch.tensor([0]), torch.tensor([drawn[1] - 1]))
    ours.load_state_dict(before)
    assert torch.equal(ours.vote(), votes)
    after = ours.state_dict()
    assert all(torch.equal(after[name], before[name]) for name in before)


def test_a_tie_goes_to_the_class_predicted_last():
    history = PredictionHistory(1, n_classes=3, length=4)
    votes = []
    for predicted in (2, 2, 0, 0, 2, 0):
        history.add(torch.tensor([0]), torch.tensor([predicted]))
        votes.append(history.vote().item())
    assert votes == [2, 2, 2, 0, 2, 0]


def test_a_million_samples_take_eleven_megabytes():
    history = PredictionHistory(1_000_000, n_classes=256, length=10)
    assert history.nbytes == 11_000_000


def test_votes_counted_in_several_goes_are_the_same(monkeypatch):
    history = PredictionHistory(100, n_classes=4, length=5)
    for _ in range(4):
        index = torch.randperm(100)[:80]
        history.add(index, torch.randint(0, 4, (80,)))
    expected = history.vote()
    monkeypatch.setattr(module, "_SAMPLES_AT_ONCE", 17)
    monkeypatch.setattr(votes, "_SAMPLES_AT_ONCE", 7)
    assert torch.equal(history.vote(), expected)


@pytest.mark.parametrize("length", [254, 255, 256, 300])
def test_long_histories_count_beyond_a_byte(length):
    history = PredictionHistory(1, n_classes=2, length=length)
    for visit in range(length + 5):
        history.add(torch.tensor([0]), torch.tensor([int(visit >= length)]))
    assert history.vote().item() == 0
    fraction = history.agreement(torch.tensor([1])).item()
    assert fraction == pytest.approx(5 / length)
