import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from skpresto._data.batch import Batch
from skpresto._methods.incv import (
    CoTeachOnSelected,
    NoisyCrossValidation,
    noise_rate_of_accuracy,
    noise_rate_of_selection,
)


@pytest.mark.parametrize(
    ("rate", "n_wrong", "accuracy", "of_selection"),
    [
        (0.0, 1, 1.0, 0.0),
        (0.4, 1, 0.52, 0.16 / 0.52),
        (0.5, 1, 0.5, 0.5),
        (0.5, 9, 0.25 + 0.25 / 9, 0.1),
        (0.2, 4, 0.64 + 0.01, 0.04 / (0.04 + 4 * 0.64)),
    ],
)
def test_noise_rates_by_hand(rate, n_wrong, accuracy, of_selection):
    assert noise_rate_of_accuracy(accuracy, n_wrong) == pytest.approx(rate, abs=1e-9)
    assert noise_rate_of_selection(rate, n_wrong) == pytest.approx(of_selection)


def test_accuracy_below_chance_means_labels_without_information():
    assert noise_rate_of_accuracy(0.01, 9) == pytest.approx(0.9)
    assert noise_rate_of_accuracy(0.3, 1) == pytest.approx(0.5)


@given(rate=st.floats(0, 0.99), n_wrong=st.integers(1, 99))
def test_noise_rate_and_accuracy_belong_together(rate, n_wrong):
    rate = min(rate, n_wrong / (n_wrong + 1))
    accuracy = (1 - rate) ** 2 + rate**2 / n_wrong
    assert noise_rate_of_accuracy(accuracy, n_wrong) == pytest.approx(rate, abs=1e-6)


def naive_round(labels, candidates, halves, rate):
    """Return the selected and the remaining candidates after a round, by loops."""
    selected, remaining = set(), set(candidates)
    for index, probabilities in halves:
        chosen = [
            i
            for i, p in zip(index, probabilities, strict=True)
            if p.index(max(p)) == labels[i]
        ]
        n_discarded = int(min(2, rate / (1 - rate)) * len(chosen) + 1e-9)
        given = {i: p[labels[i]] for i, p in zip(index, probabilities, strict=True)}
        order = sorted(range(len(index)), key=lambda j: (given[index[j]], j))
        discarded = {index[j] for j in order[:n_discarded]}
        selected |= set(chosen)
        remaining -= set(chosen) | discarded
    return selected, remaining


@st.composite
def rounds(draw):
    n = draw(st.integers(2, 12))
    labels = draw(st.lists(st.integers(0, 2), min_size=n, max_size=n))
    order = draw(st.permutations(range(n)))
    rows = st.sampled_from([[0.75, 0.25, 0.0], [0.125, 0.5, 0.375], [0.25, 0.25, 0.5]])
    halves = []
    for index in (order[: n // 2], order[n // 2 :]):
        probabilities = draw(st.lists(rows, min_size=len(index), max_size=len(index)))
        halves.append((list(index), probabilities))
    return labels, halves


@given(case=rounds(), rate=st.floats(0, 0.95) | st.none())
def test_a_round_equals_its_naive_twin(case, rate):
    labels, halves = case
    n = len(labels)
    validation = NoisyCrossValidation(
        torch.tensor(labels), torch.ones(n, dtype=torch.bool)
    )
    validation.end_round([tuple(map(torch.tensor, half)) for half in halves], rate)
    selected, remaining = naive_round(labels, range(n), halves, rate or 0)
    assert set(validation.is_selected.nonzero().flatten().tolist()) == selected
    assert set(validation.is_candidate.nonzero().flatten().tolist()) == remaining


def test_selected_samples_of_earlier_rounds_stay_selected():
    labels = torch.zeros(4, dtype=torch.long)
    validation = NoisyCrossValidation(labels, torch.tensor([True, True, True, False]))
    right, wrong = [0.9, 0.1], [0.2, 0.8]
    first = torch.tensor([0]), torch.tensor([right])
    second = torch.tensor([1, 2]), torch.tensor([wrong, wrong])
    validation.end_round([first, second], 0.3)
    assert validation.is_selected.tolist() == [True, False, False, False]
    assert validation.is_candidate.tolist() == [False, True, True, False]
    halves = [(torch.tensor([i]), torch.tensor([right])) for i in (1, 2)]
    validation.end_round(halves, 0.3)
    assert validation.is_selected.tolist() == [True, True, True, False]
    assert not validation.is_candidate.any()


def naive_selection(batch, is_selected, is_candidate, rate, ramp, warm_up):
    """Return the weights of both networks by loops."""
    n = len(batch.index)
    among = [i for i in range(n) if is_selected[i]]
    n_selected = len(among)
    if batch.epoch >= warm_up:
        others = [i for i in range(n) if is_candidate[i]]
        among += others[: n_selected // 2]
    forget = rate * min(1, (batch.epoch + 1) / ramp)
    keep = max(1, int((1 - forget) * n_selected + 1e-6)) if n_selected else 0
    weights = [[0.0] * n for _ in range(2)]
    for network in range(2):
        losses = batch.losses[network].tolist()
        for i in sorted(among, key=lambda i: (losses[i], i))[:keep]:
            weights[1 - network][i] = 1.0
    return weights


@given(data=st.data())
def test_co_teaching_on_selected_equals_its_naive_twin(data):
    n = data.draw(st.integers(1, 9))
    kinds = data.draw(st.lists(st.sampled_from("scd"), min_size=n, max_size=n))
    losses = [
        data.draw(st.lists(st.sampled_from([0.1, 0.2, 0.7]), min_size=n, max_size=n))
        for _ in range(2)
    ]
    rate, epoch = data.draw(st.floats(0, 0.95)), data.draw(st.integers(0, 12))
    is_selected, is_candidate = ([kind == k for kind in kinds] for k in "sc")
    batch = Batch(
        torch.arange(n),
        torch.zeros(n, dtype=torch.long),
        torch.zeros(2, n, 3),
        torch.tensor(losses),
        epoch,
    )
    policy = CoTeachOnSelected(
        torch.tensor(is_selected), torch.tensor(is_candidate), rate, 5, warm_up=6
    )
    expected = naive_selection(batch, is_selected, is_candidate, rate, 5, 6)
    assert policy.select(batch).weights.tolist() == expected
