"""Refurbishment, and the policies of SELFIE and Prestopping+ that use it."""

import math
from collections import Counter

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from skpresto._data.batch import Batch
from skpresto._label_quality.history import PredictionHistory
from skpresto._methods._refurbishment import Refurbisher
from skpresto._methods.prestopping_plus import LearnSafeAndRefurbished
from skpresto._methods.selfie import RefurbishAndSelect
from skpresto._networks.forward import sample_losses
from skpresto._training.epoch import mean_losses
from tests.naive import NaivePredictionHistory

N, K = 5, 3


def refurbisher_after(predictions, q, epsilon, n_classes):
    """Return what one sample with these predictions, oldest first, is corrected to."""
    history = PredictionHistory(1, n_classes, q)
    refurbisher = Refurbisher(history, torch.tensor([0]), epsilon)
    index = torch.tensor([0])
    losses = torch.zeros(1, 1)
    for predicted in predictions:
        history.add(index, torch.tensor([predicted]))
        batch = Batch(index, index, torch.zeros(1, 1, n_classes), losses, 0)
        corrected = refurbisher.labels_of_batch(batch).item()
    return corrected


def test_with_the_defaults_only_unanimous_histories_are_refurbished():
    # One dissenting vote of 15 among 10 classes: H = 0.245, 0.106 of log 10.
    assert refurbisher_after([4] * 15, q=15, epsilon=0.05, n_classes=10) == 4
    assert refurbisher_after([1] + [4] * 14, 15, 0.05, 10) == -1
    assert refurbisher_after([1] + [4] * 14, 15, 0.107, 10) == 4
    assert refurbisher_after([1] + [4] * 14, 15, 0.106, 10) == -1


def test_a_short_history_is_not_refurbished_however_unanimous():
    assert refurbisher_after([4] * 14, q=15, epsilon=0.05, n_classes=10) == -1


def test_a_corrected_label_stays_until_the_next_correction():
    assert refurbisher_after([2] * 3 + [1], q=3, epsilon=0.05, n_classes=3) == 2
    assert refurbisher_after([2] * 3 + [1] * 3, q=3, epsilon=0.05, n_classes=3) == 1


class NaiveRefurbisher:
    def __init__(self, q, epsilon):
        self.history = NaivePredictionHistory(N, q)
        self.epsilon = epsilon
        self.corrected = [-1] * N

    def update(self, i):
        entries = self.history.entries[i]
        fractions = [n / len(entries) for n in Counter(entries).values()]
        uncertainty = -sum(p * math.log(p) for p in fractions) / math.log(K)
        if len(entries) == self.history.length and uncertainty <= self.epsilon + 1e-6:
            self.corrected[i] = self.history.vote(i)
        return self.corrected[i]


visits = st.lists(
    st.tuples(
        st.lists(st.integers(0, N - 1), min_size=1, max_size=N, unique=True),
        st.lists(st.integers(0, K - 1), min_size=N, max_size=N),
        st.lists(st.sampled_from([0.1, 0.5, 2.0]), min_size=N, max_size=N),
    ),
    min_size=1,
    max_size=14,
)
labels_of = st.lists(st.integers(0, K - 1), min_size=N, max_size=N)
epsilons = st.sampled_from([0.0, 0.05, 0.6, 1.0])


def run_both(visits, labels, q, epsilon, policy_of, naive_of):
    """Compare a policy with its twin over a sequence of batches."""
    history = PredictionHistory(N, K, q)
    naive = NaiveRefurbisher(q, epsilon)
    labels = torch.tensor(labels)
    policy = policy_of(Refurbisher(history, labels, epsilon))
    for epoch, (index, predicted, losses) in enumerate(visits):
        predicted, losses = predicted[: len(index)], losses[: len(index)]
        history.add(torch.tensor(index), torch.tensor(predicted))
        naive.history.record(index, predicted)
        logits = torch.zeros(1, len(index), K)
        batch = Batch(
            torch.tensor(index), labels[index], logits, torch.tensor([losses]), epoch
        )
        selection = policy.select(batch)
        expected = naive_of(naive, index, labels.tolist(), losses, epoch)
        if expected is None:
            assert selection.weights is None
            assert selection.targets is None
            continue
        weights, learned = expected
        assert selection.weights.tolist() == [weights]
        found = batch.labels if selection.targets is None else selection.targets
        chosen = [i for i, weight in enumerate(weights) if weight]
        assert found[chosen].tolist() == [learned[i] for i in chosen]


@given(visits, labels_of, st.integers(1, 4), epsilons, st.sampled_from([0.0, 0.3, 0.8]))
def test_selfie_equals_its_naive_twin(visits, labels, q, epsilon, rate):
    def naive(naive, index, labels, losses, epoch):
        if epoch < 2:
            return None
        corrected = [naive.update(i) for i in index]
        n_clean = math.ceil((1 - rate) * len(index) - 1e-9)
        clean = sorted(range(len(index)), key=lambda j: (losses[j], j))[:n_clean]
        weights = [float(j in clean or corrected[j] >= 0) for j in range(len(index))]
        learned = [
            corrected[j] if corrected[j] >= 0 else labels[i]
            for j, i in enumerate(index)
        ]
        return weights, learned

    run_both(
        visits, labels, q, epsilon, lambda r: RefurbishAndSelect(r, rate, 2), naive
    )


@given(
    visits,
    labels_of,
    st.integers(1, 4),
    epsilons,
    st.lists(st.booleans(), min_size=N, max_size=N),
)
def test_prestopping_plus_equals_its_naive_twin(visits, labels, q, epsilon, safe):
    def naive(naive, index, labels, losses, epoch):
        if epoch < 2:
            return [float(safe[i]) for i in index], [labels[i] for i in index]
        corrected = [naive.update(i) for i in index]
        weights = [float(safe[i] or corrected[j] >= 0) for j, i in enumerate(index)]
        learned = [
            labels[i] if safe[i] or corrected[j] < 0 else corrected[j]
            for j, i in enumerate(index)
        ]
        return weights, learned

    def policy(refurbisher):
        return LearnSafeAndRefurbished(refurbisher, torch.tensor(safe), 2)

    run_both(visits, labels, q, epsilon, policy, naive)


def test_the_loss_is_the_mean_over_safe_and_refurbished_samples():
    """Eq. 5 with the denominator that was meant, by hand."""
    logits = torch.tensor([[2.0, 0, 0, 0], [0, 1.0, 0, 0], [0, 0, 3.0, 0]])
    criterion = torch.nn.CrossEntropyLoss(reduction="none")
    losses = sample_losses(criterion, logits, torch.tensor([0, 0, 2]))
    weights = torch.tensor([[[1.0, 0.0, 1.0]]])
    means, n_selected = mean_losses(losses.view(1, 1, 3), weights)
    by_hand = (math.log(math.exp(2) + 3) - 2 + math.log(math.exp(3) + 3) - 3) / 2
    assert means.item() == pytest.approx(by_hand, rel=1e-6)
    assert n_selected.item() == 2
