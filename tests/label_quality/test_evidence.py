"""A second opinion on labels, as evidence in their posterior."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from skpresto._label_quality import blocks
from skpresto._label_quality.evidence import Evidence
from skpresto._label_quality.posterior import LabelPosterior
from tests.naive_posterior import (
    C,
    N,
    NaiveOutOfFold,
    folds_of,
    is_undecided,
    labels_of,
    lengths,
    probabilities_after,
    transitions,
    visits_made,
)

#: Probabilities that each of N samples is given each label; zeros say nothing.
opinions = st.lists(
    st.sampled_from([(0.0, 0.0, 0.0), (0.7, 0.2, 0.1), (0.05, 0.9, 0.05), (0, 0, 1)]),
    min_size=N,
    max_size=N,
)


def naive_evidence(opinion, matrix, weight=1.0):
    """Return the likelihood of the labels given around a sample, for each class."""
    likelihood = []
    for j in range(C):
        product = 1.0
        for k in range(C):
            product *= matrix[j][k] ** (weight * opinion[k])
        likelihood.append(product)
    return [max(v / max(likelihood), math.exp(-50)) for v in likelihood]


def naive_posterior(means, labels, opinions, how):
    """Count T, compute the evidence, count T again, and follow Bayes' rule."""
    first = transitions(means, labels, **how)
    products = []
    for mean, opinion in zip(means, opinions, strict=True):
        evidence = naive_evidence(opinion, first)
        joint = [p * e for p, e in zip(mean, evidence, strict=True)]
        products.append([v / sum(joint) if sum(joint) else 0.0 for v in joint])
    second = transitions(products, labels, **how)
    result = []
    for product, label in zip(products, labels, strict=True):
        joint = [product[j] * second[j][label] for j in range(C)]
        result.append([v / sum(joint) if sum(joint) else 0.0 for v in joint])
    return products, second, result


@given(visits_made, labels_of, folds_of, lengths, opinions, st.booleans())
def test_posteriors_with_evidence_equal_those_of_the_naive_twin(
    visits, labels, folds, q, opinions, confident_only
):
    how = {"confident_only": confident_only, "shrunken": True}
    means = NaiveOutOfFold(visits, folds, q).means
    products, matrix, expected = naive_posterior(means, labels, opinions, how)
    if is_undecided(means, confident_only) or is_undecided(products, confident_only):
        return
    probability = probabilities_after(visits, folds, q, labels).mean
    found = LabelPosterior.counted(
        probability, torch.tensor(labels), given=torch.tensor(opinions), **how
    )
    assert found.transition_matrix.tolist() == [pytest.approx(row) for row in matrix]
    everything = found.posterior(torch.arange(N)).tolist()
    assert everything == [pytest.approx(row, abs=1e-5) for row in expected]
    own = [row[label] for row, label in zip(expected, labels, strict=True)]
    assert found.label_quality().tolist() == pytest.approx(own, abs=1e-5)


@given(visits_made, labels_of, folds_of, lengths)
def test_an_opinion_of_zeros_changes_nothing(visits, labels, folds, q):
    probability = probabilities_after(visits, folds, q).mean
    given, nothing = torch.tensor(labels), torch.zeros(N, C)
    without = LabelPosterior.counted(probability, given, shrunken=True)
    found = LabelPosterior.counted(probability, given, given=nothing, shrunken=True)
    assert all(map(torch.equal, found.assess_all(), without.assess_all()))


@given(st.permutations(range(C)), visits_made, labels_of, folds_of, opinions)
def test_classes_may_be_renamed(names, visits, labels, folds, opinions):
    """The matrix need not be symmetric, so rows and columns must not be confused."""
    means = NaiveOutOfFold(visits, folds, 2).means
    probability, given = torch.tensor(means), torch.tensor(opinions)
    if is_undecided(means) or is_undecided(
        naive_posterior(means, labels, opinions, {"shrunken": True})[0]
    ):
        return
    order = torch.tensor(names)
    renamed = torch.tensor([names.index(label) for label in labels])
    how = {"shrunken": True}
    before = LabelPosterior.counted(
        probability, torch.tensor(labels), given=given, **how
    )
    after = LabelPosterior.counted(
        probability[:, order], renamed, given=given[:, order], **how
    )
    everything = torch.arange(N)
    torch.testing.assert_close(
        after.posterior(everything), before.posterior(everything)[:, order]
    )


@given(opinions, st.sampled_from([0.5, 1.0, 4.0]))
def test_evidence_of_a_weight_is_that_of_as_many_labels(opinions, weight):
    matrix = [[0.8, 0.15, 0.05], [0.3, 0.6, 0.1], [0.02, 0.18, 0.8]]
    found = Evidence(torch.tensor(opinions), torch.tensor(matrix), weight)
    for opinion, row in zip(
        opinions, found.logarithm(torch.arange(N)).exp().tolist(), strict=True
    ):
        assert row == pytest.approx(naive_evidence(opinion, matrix, weight), abs=1e-6)


def test_evidence_counted_in_several_parts_is_the_same(monkeypatch):
    generator = torch.Generator().manual_seed(0)
    probability, given = (torch.rand(100, C, generator=generator) for _ in "pv")
    evidence = Evidence(given, torch.full((C, C), 0.2) + 0.4 * torch.eye(C))
    at_once = evidence.most_probable(probability)
    monkeypatch.setattr(blocks, "_SAMPLES_AT_ONCE", 17)
    in_parts = evidence.most_probable(probability)
    torch.testing.assert_close(in_parts, at_once)


def test_labels_given_around_a_sample_decide_where_networks_do_not():
    """A third of the first class is labeled as the second one, never the reverse.

    A sample that networks cannot place is labeled as the second class. Around it are
    labels of both, as only samples of the first class have.
    """
    labels = torch.tensor([0] * 20 + [1] * 10 + [1] * 30 + [2] * 30 + [1])
    sure = torch.eye(C)[torch.tensor([0] * 30 + [1] * 30 + [2] * 30)]
    probability = torch.cat([0.97 * sure + 0.01, torch.tensor([[0.5, 0.5, 0.0]])])
    given = torch.zeros(91, C)
    given[-1] = torch.tensor([0.6, 0.4, 0.0])
    index = torch.tensor([90])
    alone = LabelPosterior.counted(probability, labels).posterior(index)
    found = LabelPosterior.counted(probability, labels, given=given).posterior(index)
    assert alone.argmax() == 1
    assert found.argmax() == 0


probability_of_two = st.sampled_from([0.03, 0.2, 0.4, 0.55, 0.8, 0.97])
samples_of_two = st.lists(
    st.tuples(probability_of_two, probability_of_two, st.integers(0, 1)),
    min_size=4,
    max_size=12,
)


def naive_likelihood(probability, labels, matrix):
    """Return the mean log-likelihood of labels, each by a sum over classes."""
    total = 0.0
    for row, label in zip(probability, labels, strict=True):
        total += math.log(sum(p * matrix[j][label] for j, p in enumerate(row)))
    return total / len(labels)


@given(samples_of_two)
def test_evidence_on_two_classes_has_the_weight_that_fits_the_labels_best(samples):
    firsts, opinions, labels = zip(*samples, strict=True)
    labels = torch.tensor(labels)
    probability, given = (
        torch.tensor([[p, 1 - p] for p in values]) for values in (firsts, opinions)
    )
    first = LabelPosterior.counted(probability, labels, shrunken=True)
    fits = {}
    for weight in (1, 2, 4, 8, 16):
        matrix = first.transition_matrix.tolist()
        rows = []
        for row, opinion in zip(probability.tolist(), given.tolist(), strict=True):
            joint = [
                p * math.prod(matrix[j][k] ** (weight * opinion[k]) for k in range(2))
                for j, p in enumerate(row)
            ]
            rows.append([value / sum(joint) for value in joint])
        if any(abs(row[0] - 0.5) < 1e-5 for row in rows):
            return
        again = LabelPosterior.counted(torch.tensor(rows), labels, shrunken=True)
        matrix = again.transition_matrix.tolist()
        fits[weight] = naive_likelihood(rows, labels.tolist(), matrix)
    best = max(fits.values())
    found = LabelPosterior.counted(probability, labels, given=given, shrunken=True)
    assert found.likelihood() == pytest.approx(best, abs=1e-5)
    assert fits[found.evidence.weight] == pytest.approx(best, abs=1e-5)


def test_samples_of_which_nothing_is_known_have_no_likelihood():
    probability = torch.tensor([[0.9, 0.1], [0.2, 0.8], [0.0, 0.0]])
    labels = torch.tensor([0, 1, 1])
    all_known = LabelPosterior.counted(probability[:2], labels[:2])
    found = LabelPosterior(probability, labels, all_known.transition_matrix)
    assert found.likelihood() == pytest.approx(all_known.likelihood())
    nothing = LabelPosterior(torch.zeros(2, 2), labels[:2], torch.full((2, 2), 0.5))
    assert nothing.likelihood() == 0
