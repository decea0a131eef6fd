"""Running means of the probabilities of networks not trained on a sample."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from skpresto._data.batch import Batch
from skpresto._label_quality import blocks
from skpresto._label_quality.out_of_fold import OutOfFoldProbabilities
from skpresto._label_quality.posterior import LabelPosterior
from skpresto._label_quality.transitions import shrunken_transition_matrix
from tests.naive_posterior import (
    C,
    K,
    N,
    NaiveOutOfFold,
    folds_of,
    is_undecided,
    labels_of,
    lengths,
    probabilities_after,
    visits_made,
)


@given(visits_made, folds_of, lengths)
def test_means_equal_those_of_the_naive_twin(visits, folds, q):
    probabilities = probabilities_after(visits, folds, q)
    naive = NaiveOutOfFold(visits, folds, q)
    assert probabilities.mean.numpy() == pytest.approx(np.array(naive.means), abs=1e-5)
    visited = {i for index, _ in visits for i in index}
    assert probabilities.is_known().tolist() == [i in visited for i in range(N)]


@given(visits_made, labels_of, folds_of, lengths)
def test_final_probabilities_equal_those_of_the_naive_twin(visits, labels, folds, q):
    naive = NaiveOutOfFold(visits, folds, q)
    expected = naive.finalize(labels)
    if naive.is_tied or is_undecided(naive._geometric(1.0)):
        return
    found = probabilities_after(visits, folds, q, labels).scaled()
    assert found.numpy() == pytest.approx(np.array(expected), abs=1e-5)


@given(visits_made, folds_of, lengths, st.randoms(use_true_random=False))
def test_networks_trained_on_a_sample_do_not_contribute(visits, folds, q, random):
    changed = []
    for index, logits in visits:
        other = list(logits)
        for j, i in enumerate(index):
            for k in set(range(K)) - {folds[i]}:
                start = (k * N + j) * C
                other[start : start + C] = [random.uniform(-5, 5) for _ in range(C)]
        changed.append((index, other))
    before, after = (probabilities_after(v, folds, q) for v in (visits, changed))
    assert torch.equal(before.mean, after.mean)
    assert torch.equal(before.scaled(), after.scaled())


def test_the_last_network_assesses_a_sample_in_no_fold():
    probabilities = OutOfFoldProbabilities(torch.zeros(2, dtype=torch.int64), C, 1)
    logits = torch.tensor([[[0.0, 0, 9], [0, 9, 0]], [[9.0, 0, 0], [0, 0, 9]]])
    index = torch.arange(2)
    probabilities.record(Batch(index, index, logits, index, 0, torch.tensor([-1, 0])))
    assert probabilities.mean.argmax(dim=1).tolist() == [0, 1]


def test_a_class_that_has_become_improbable_is_excluded_in_the_end():
    """Early visits raise the arithmetic mean of a class, not its geometric mean."""
    probabilities = OutOfFoldProbabilities(torch.zeros(1, dtype=torch.int64), C, 4)
    index = torch.tensor([0])
    probabilities.add(index, torch.tensor([[0.4, 0.3, 0.3]]))
    for _ in range(3):
        probabilities.add(index, torch.tensor([[0.9999, 0.0001, 0.0]]))
    before = probabilities.mean / probabilities.mean.sum()
    after = probabilities.scaled()
    assert before[0, 2] > 0.04
    assert 0 < after[0, 2] < 0.001


def test_overconfident_probabilities_are_flattened_by_the_temperature_that_fits_best():
    """Of three samples two are clear; in the third, the label is as often another."""
    n_samples = 180
    index = torch.arange(n_samples)
    labels = index % C
    is_clear = index // C % 3 > 0
    is_other = ~is_clear & (index // 9 % 2 == 0)
    top = torch.where(is_other, (labels + 1) % C, labels)
    second = torch.where(is_other, labels, (labels + 1) % C)
    probability = torch.full((n_samples, C), 1e-6)
    probability[index, second] = torch.where(is_clear, 1e-6, 0.05)
    probability[index, top] = torch.where(is_clear, 1.0, 0.95)
    probabilities = OutOfFoldProbabilities(labels, C, 1)
    probabilities.add(index, probability)
    # The more confident half of each class is clear, and all of its labels are kept.
    noise = shrunken_transition_matrix(labels[is_clear], labels[is_clear], C)
    found = probabilities.scaled()

    def flattened(temperature):
        power = probability.double() ** (1 / temperature)
        return power / power.sum(dim=1, keepdim=True)

    def fit(temperature):
        return (flattened(temperature) * noise.t()[labels]).sum(dim=1).log().sum()

    best = max((2 ** (step / 10) for step in range(21)), key=fit)
    assert best > 2
    assert found.numpy() == pytest.approx(flattened(best).numpy(), abs=1e-4)


@given(visits_made, labels_of, folds_of, lengths)
def test_the_final_probabilities_do_not_depend_on_blocks(visits, labels, folds, q):
    whole = probabilities_after(visits, folds, q, labels).scaled()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "_SAMPLES_AT_ONCE", 2)
        in_blocks = probabilities_after(visits, folds, q, labels).scaled()
    assert torch.equal(in_blocks, whole)


def test_half_precision_of_many_values_changes_little(monkeypatch):
    torch.manual_seed(0)
    labels = torch.randint(0, 5, (200,))
    visits = torch.randn(8, 200, 5) + 2 * torch.nn.functional.one_hot(labels, 5)

    def finalized():
        means = OutOfFoldProbabilities(labels, n_classes=5, q=4)
        for logits in visits:
            means.add(torch.arange(200), torch.softmax(logits, dim=1))
        assert bool(means.is_known().all())
        return means.mean, means.scaled()

    mean, exact = finalized()
    monkeypatch.setattr("skpresto._label_quality.out_of_fold.MAX_SINGLE", 999)
    rounded_mean, rounded = finalized()
    assert mean.dtype == exact.dtype == torch.float32
    assert rounded_mean.dtype == rounded.dtype == torch.float16
    torch.testing.assert_close(rounded.float(), exact, atol=0.01, rtol=0)
    posterior = LabelPosterior.counted(rounded, labels)
    assert posterior.posterior(labels).dtype == torch.float32
    is_safe = posterior.assess_all().is_safe
    expected = LabelPosterior.counted(exact, labels).assess_all().is_safe
    assert (is_safe == expected).float().mean() > 0.98
