"""The posterior probability that a given label is correct."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from skpresto._label_quality import blocks
from skpresto._label_quality.posterior import (
    LabelPosterior,
    count_transitions,
    multiplied,
)
from skpresto._label_quality.transitions import (
    above_class_median_confidence,
    counted_transition_matrix,
)
from tests.naive_posterior import (
    C,
    N,
    NaiveOutOfFold,
    epsilons,
    folds_of,
    is_undecided,
    labels_of,
    lengths,
    posteriors,
    probabilities_after,
    transitions,
    visits_made,
)

dampings = st.sampled_from([0.0, 0.2, 1.0])


@given(
    visits_made, labels_of, folds_of, lengths, st.booleans(), dampings, st.booleans()
)
def test_posteriors_equal_those_of_the_naive_twin(
    visits, labels, folds, q, is_end, damping, shrunken
):
    """While networks are trained, and in the end."""
    naive = NaiveOutOfFold(visits, folds, q)
    means = naive.finalize(labels) if is_end else naive.means
    if is_undecided(means, is_end) or (naive.is_tied and is_end):
        return
    if is_end and is_undecided(naive._geometric(1.0), confident_only=True):
        return
    given = torch.tensor(labels)
    probabilities = probabilities_after(visits, folds, q, labels)
    probability = probabilities.scaled() if is_end else probabilities.mean
    how = {"confident_only": is_end, "damping": damping, "shrunken": shrunken}
    found = LabelPosterior.counted(probability, given, **how)
    matrix = np.array(transitions(means, labels, **how))
    assert found.transition_matrix.numpy() == pytest.approx(matrix)
    everything = found.posterior(torch.arange(N))
    expected = np.array(posteriors(means, labels, **how))
    assert everything.numpy() == pytest.approx(expected, abs=1e-5)
    some = torch.tensor([4, 0])
    assert torch.equal(found.posterior(some), everything[some])


@given(
    visits_made,
    visits_made,
    labels_of,
    folds_of,
    st.sampled_from([0.5, 0.7, 1.0]),
)
def test_combined_probabilities_follow_bayes_rule_with_the_matrix_counted_before(
    visits, others, labels, folds, power
):
    """A loop multiplies, raises to the power and normalizes."""
    index = torch.tensor([3, 0, 5])
    probability = probabilities_after(visits, folds, 2).mean
    other = probabilities_after(others, folds, 2).mean[index]
    before = probability.tolist()
    counted = LabelPosterior.counted(probability, torch.tensor(labels), shrunken=True)
    matrix = counted.transition_matrix.tolist()
    product = probability.index_copy(0, index, multiplied(probability[index], other))
    posterior = replace(counted, probability=product, power=power)
    for i in range(N):
        factors = [1.0] * C
        if i in index:
            factors = [max(p, 1e-6) for p in other[index == i][0].tolist()]
        joint = [
            (before[i][j] * factors[j]) ** power * matrix[j][labels[i]]
            for j in range(C)
        ]
        expected = [v / sum(joint) if sum(joint) else 0.0 for v in joint]
        found = posterior.posterior(torch.tensor([i]))[0]
        assert found.tolist() == pytest.approx(expected, abs=1e-5)
        quality = posterior.label_quality()[i]
        assert quality == pytest.approx(expected[labels[i]], abs=1e-5)
    assert posterior.transition_matrix.tolist() == matrix


def posterior_after(visits, labels, folds, q, epsilon=0.05):
    probability = probabilities_after(visits, folds, q).mean
    return LabelPosterior.counted(probability, torch.tensor(labels), epsilon)


@given(visits_made, labels_of, folds_of, lengths, epsilons)
def test_an_assessment_follows_from_the_posterior(visits, labels, folds, q, epsilon):
    posterior = posterior_after(visits, labels, folds, q, epsilon)
    assessed = posterior.assess_all()
    for i, row in enumerate(posterior.posterior(torch.arange(N)).tolist()):
        suggested = row.index(max(row))
        is_safe = row[labels[i]] >= 0.5
        is_clear = max(row) >= 1 - epsilon and max(row) > 0
        is_corrected = is_clear and not is_safe and suggested != labels[i]
        assert assessed.is_safe[i] == is_safe
        assert assessed.is_corrected[i] == is_corrected
        used = suggested if is_corrected else labels[i]
        assert assessed.labels[i] == used
        assert assessed.quality[i] == row[labels[i]]
        assert assessed.suggested[i] == suggested


@given(visits_made, labels_of, folds_of, lengths, dampings)
def test_quality_by_log_odds_is_the_posterior_of_the_given_label(
    visits, labels, folds, q, damping
):
    probability = probabilities_after(visits, folds, q).mean
    posterior = LabelPosterior.counted(
        probability, torch.tensor(labels), damping=damping
    )
    is_known = probability.sum(dim=1) > 0
    expected = posterior.assess_all().quality[is_known]
    found = posterior.label_quality()[is_known]
    assert found.dtype == torch.float64
    assert found.numpy() == pytest.approx(expected.numpy(), abs=1e-5)


def test_quality_by_log_odds_tells_nearly_certain_labels_apart():
    doubts = torch.tensor([1e-5, 1e-8, 1e-10])
    probability = torch.stack([1 - doubts, doubts], dim=1)
    posterior = LabelPosterior.counted(probability, torch.tensor([0, 0, 0]))
    assert len(posterior.assess_all().quality.unique()) < 3
    quality = posterior.label_quality()
    assert quality.tolist() == sorted(set(quality.tolist()))


def test_damping_moves_the_transition_matrix_towards_half_correct_labels():
    true, labels = torch.tensor([0, 0, 0, 1]), torch.tensor([0, 0, 1, 1])
    found = counted_transition_matrix(true, labels, 2, damping=0.2)
    counted = [[2.75 / 4, 1.25 / 4], [0.25 / 2, 1.75 / 2]]
    expected = 0.8 * np.array(counted) + 0.2 * np.array([[0.75, 0.25], [0.25, 0.75]])
    assert found.numpy() == pytest.approx(expected)


@given(visits_made, labels_of, folds_of, lengths)
def test_the_transition_matrix_holds_positive_frequencies(visits, labels, folds, q):
    matrix = posterior_after(visits, labels, folds, q).transition_matrix
    assert (matrix > 0).all()
    assert matrix.sum(dim=1).tolist() == pytest.approx([1] * C)


def test_labels_assessed_in_several_parts_are_the_same(monkeypatch):
    torch.manual_seed(0)
    probability, labels = torch.rand(100, C), torch.arange(100) % C
    posterior = LabelPosterior.counted(probability, labels, epsilon=0.4)
    at_once = posterior.assess_all()
    monkeypatch.setattr(blocks, "_SAMPLES_AT_ONCE", 17)
    assert all(map(torch.equal, posterior.assess_all(), at_once))


def test_transitions_are_uniform_without_probabilities_and_follow_them():
    probability, labels = torch.zeros(4, C), torch.tensor([0, 0, 1, 1])
    matrix = count_transitions(probability, labels)
    assert matrix == pytest.approx(np.full((C, C), 1 / C))
    probability[:, 0] = 1.0
    expected = [(2 + 1 / 3) / 5, (2 + 1 / 3) / 5, (1 / 3) / 5]
    matrix = count_transitions(probability, labels)
    assert matrix[0].tolist() == pytest.approx(expected)


def test_a_sample_without_probabilities_is_neither_safe_nor_corrected():
    labels = torch.zeros(N, dtype=torch.int64)
    assessed = LabelPosterior.counted(
        torch.zeros(N, C), labels, epsilon=1.0
    ).assess_all()
    assert not (assessed.is_safe | assessed.is_corrected).any()
    assert (assessed.quality == 0).all()


def test_a_label_that_noise_rarely_produces_needs_less_support():
    """Class 1 is often labeled 0 and never 2, so label 2 is accepted more easily."""
    labels = torch.tensor([1] * 10 + [0] * 8 + [0, 2])
    probability = torch.tensor([[0.2, 0.6, 0.2]]).repeat(20, 1)
    assessed = LabelPosterior.counted(probability, labels, 0.05).assess_all()
    assert assessed.is_safe[:10].all()
    assert not assessed.is_safe[10:19].any()
    assert assessed.quality[19] > assessed.quality[18]


def test_errors_of_less_confident_predictions_do_not_count_as_label_noise():
    """Of six samples predicted as class 0, the two least confident are labeled 1."""
    labels = torch.tensor([0, 0, 0, 0, 1, 1])
    probability = torch.tensor([[0.9, 0.05, 0.05]] * 4 + [[0.5, 0.45, 0.05]] * 2)
    plain = LabelPosterior.counted(probability, labels)
    confident = LabelPosterior.counted(probability, labels, confident_only=True)
    assert plain.transition_matrix[0, 1] == pytest.approx((2 + 1 / 3) / 7)
    assert confident.transition_matrix[0, 1] == pytest.approx((1 / 3) / 5)
    assert confident.assess_all().is_safe.all()


@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 99)), min_size=1, max_size=30)
)
def test_the_more_confident_half_of_every_class(samples):
    predicted, confidence = (
        torch.tensor(column) for column in zip(*samples, strict=True)
    )
    is_above = above_class_median_confidence(confidence / 100, predicted)
    for c in predicted.unique():
        of_class = confidence[predicted == c]
        middle = of_class.sort(descending=True).values[(len(of_class) - 1) // 2]
        assert torch.equal(is_above[predicted == c], of_class >= middle)


@given(seed=st.integers(0, 10_000))
def test_quality_of_one_half_is_where_labels_become_safe(seed):
    """Probabilities in quarters, so that posteriors of exactly one half occur."""
    generator = torch.Generator().manual_seed(seed)
    probability = torch.randint(0, 4, (200, 3), generator=generator) / 4.0
    labels = torch.randint(0, 3, (200,), generator=generator)
    posterior = LabelPosterior.counted(probability, labels)
    assessed, quality = posterior.assess_all(), posterior.label_quality()
    assert quality.dtype == torch.float64
    torch.testing.assert_close(quality.float(), assessed.quality)
    is_clear = (quality - 0.5).abs() > 1e-6
    assert torch.equal((quality >= 0.5)[is_clear], assessed.is_safe[is_clear])


def test_labels_without_any_probability_have_no_quality():
    posterior = LabelPosterior.counted(torch.zeros(3, 2), torch.tensor([0, 1, 1]))
    assert posterior.label_quality().tolist() == [0, 0, 0]


@pytest.mark.parametrize("damping", [0.0, 0.2])
def test_a_transition_matrix_counted_in_blocks_is_the_same(monkeypatch, damping):
    rng = np.random.RandomState(0)
    true, labels = (torch.from_numpy(rng.randint(50, size=400)) for _ in "ab")
    true[true == 7] = 8  # a class without samples
    whole = counted_transition_matrix(true, labels, 50, damping)
    monkeypatch.setattr(blocks, "_VALUES_AT_ONCE", 150)
    assert torch.equal(counted_transition_matrix(true, labels, 50, damping), whole)
    assert whole.sum(dim=1).numpy() == pytest.approx(np.ones(50))
