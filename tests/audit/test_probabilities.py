"""Label quality from probabilities, against Bayes' rule in loops."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skpresto.audit import LabelReport
from skpresto.audit._probabilities import assess_labels
from tests.naive_posterior import shrunken_transitions


@st.composite
def labelled_probabilities(draw):
    n_samples, n_classes = draw(st.integers(2, 30)), draw(st.integers(2, 4))
    rng = np.random.RandomState(draw(st.integers(0, 2**31 - 1)))
    labels = np.concatenate(
        [np.arange(n_classes), rng.randint(n_classes, size=n_samples)]
    )
    scores = rng.normal(scale=draw(st.floats(0.1, 6)), size=(len(labels), n_classes))
    return np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True), labels


def naive_joint(probability, labels):
    """Return p[j] * T[j, label] of each row, with p powered, in loops."""
    n_classes = probability.shape[1]
    rows = [[0.99 * p + 0.01 / n_classes for p in row] for row in probability.tolist()]
    counts = [[0] * n_classes for _ in range(n_classes)]
    for row, label in zip(probability.tolist(), labels, strict=True):
        counts[row.index(max(row))][label] += 1
    transitions = shrunken_transitions(counts)
    best = None
    for step in range(-8, 13):
        power = 2 ** (step / 4)
        likelihood = sum(
            power * math.log(row[label]) - math.log(sum(p**power for p in row))
            for row, label in zip(rows, labels, strict=True)
        )
        if best is None or likelihood > best[0] + 1e-9:
            best = likelihood, power
    power = 2 * max(best[1], 1)
    return [
        [p**power * transitions[j][label] for j, p in enumerate(row)]
        for row, label in zip(rows, labels, strict=True)
    ]


@given(labelled_probabilities())
def test_the_quality_is_the_posterior_by_bayes_rule(drawn):
    probability, labels = drawn
    found = assess_labels(probability, labels)
    joint = naive_joint(probability, labels.tolist())
    expected = [row[label] / sum(row) for row, label in zip(joint, labels, strict=True)]
    np.testing.assert_allclose(found.quality, expected, rtol=1e-6, atol=1e-9)
    for row, label, best, other in zip(
        joint, labels, found.suggested, found.likeliest.besides(labels), strict=True
    ):
        assert row[best] == pytest.approx(max(row))
        assert other != label
        assert row[other] == pytest.approx(
            max(p for j, p in enumerate(row) if j != label)
        )
    highest = [sorted(row, reverse=True)[:5] / np.sum(row) for row in joint]
    np.testing.assert_allclose(found.likeliest.probability, highest, atol=1e-5)


@given(labelled_probabilities(), st.randoms(use_true_random=False))
def test_other_names_and_orders_of_classes_give_the_same_report(drawn, random):
    probability, labels = drawn
    n_classes = probability.shape[1]
    names = [f"class {number}" for number in range(n_classes)]
    random.shuffle(names)
    renamed = np.array(names)[labels]
    ours = LabelReport.from_probabilities(probability, labels)
    other = LabelReport.from_probabilities(probability, renamed, classes=names)
    np.testing.assert_allclose(other.quality, ours.quality, rtol=1e-9)
    assert other.frame["given"].tolist() == renamed.tolist()
    assert other.expected_errors() == pytest.approx(ours.expected_errors(), rel=0.01)
    columns = pd.DataFrame(probability, columns=names, index=range(5, 5 + len(labels)))
    by_column = LabelReport.from_probabilities(columns, renamed).frame
    assert by_column["suggested"].tolist() == other.frame["suggested"].tolist()
    assert by_column.index.tolist() == list(columns.index)


def test_wrong_labels_have_the_lowest_quality(probabilities):
    probability, y = probabilities
    report = LabelReport.from_probabilities(probability, y)
    assert np.mean(report.suspects(12).index < 12) > 0.7
    assert report.frame["is_safe"].tolist() == (report.frame["quality"] >= 0.5).tolist()
    assert report.method == "out-of-fold probabilities"


@given(labelled_probabilities())
def test_the_given_label_of_a_suspect_is_never_suggested(drawn):
    suspects = LabelReport.from_probabilities(*drawn).suspects()
    assert (suspects["given"] != suspects["suggested"]).all()


def test_noise_that_the_probabilities_have_learned_is_not_counted_twice():
    """A third of each class is mislabelled; the classifier predicts exactly that."""
    rng = np.random.RandomState(0)
    truth = rng.randint(3, size=3000)
    of_given = 0.5 / 3 + 0.5 * np.eye(3)[truth]
    labels = np.array([rng.choice(3, p=row) for row in of_given])
    noisy = rng.dirichlet(np.ones(3), size=3000)
    probability = 0.85 * of_given + 0.15 * noisy
    report = LabelReport.from_probabilities(probability, labels)
    is_wrong = labels != truth
    assert np.mean(report.is_suspect[is_wrong]) > 0.9
    assert np.mean(is_wrong[report.is_suspect]) > 0.9
