"""Label quality from probabilities, against Bayes' rule in loops and in torch."""

import math

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from skpresto._label_quality.posterior import LabelPosterior
from skpresto._label_quality.temperature import scale_temperature
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


def naive_transitions(rows, labels, n_classes):
    """Count among the more confident half of each class, and shrink."""
    by_class = {}
    for row in rows:
        by_class.setdefault(row.index(max(row)), []).append(max(row))
    counts = [[0] * n_classes for _ in range(n_classes)]
    for row, label in zip(rows, labels, strict=True):
        falling = sorted(by_class[row.index(max(row))], reverse=True)
        if max(row) >= falling[(len(falling) - 1) // 2]:
            counts[row.index(max(row))][label] += 1
    return shrunken_transitions(counts)


def naive_rows(probability, labels):
    """Return the rows at the temperature with the highest likelihood of the labels."""
    n_classes = probability.shape[1]
    clipped = [[max(p, 1e-6) for p in row] for row in probability.tolist()]
    transitions = naive_transitions(clipped, labels, n_classes)
    best = None
    for step in range(21):
        flat = [[p ** (1 / 2 ** (step / 10)) for p in row] for row in clipped]
        rows = [[p / sum(row) for p in row] for row in flat]
        likelihood = sum(
            math.log(sum(row[j] * transitions[j][label] for j in range(n_classes)))
            for row, label in zip(rows, labels, strict=True)
        )
        if best is None or likelihood > best[0] + 1e-9 * len(labels):
            best = likelihood, rows
    return best[1]


def naive_quality(probability, labels):
    """Return posterior probabilities of the given labels, by Bayes' rule in loops."""
    n_classes = probability.shape[1]
    rows = naive_rows(probability, labels)
    transitions = naive_transitions(rows, labels, n_classes)
    return [
        row[label]
        * transitions[label][label]
        / sum(row[j] * transitions[j][label] for j in range(n_classes))
        for row, label in zip(rows, labels, strict=True)
    ]


@given(labelled_probabilities())
def test_the_quality_is_the_posterior_by_bayes_rule(drawn):
    probability, labels = drawn
    found = assess_labels(probability, labels).quality
    expected = naive_quality(probability, labels.tolist())
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_the_rule_is_that_of_the_out_of_fold_networks(seed):
    rng = np.random.RandomState(seed)
    labels = rng.randint(3, size=400)
    scores = torch.from_numpy(rng.normal(size=(400, 3)) * 2 + 3 * np.eye(3)[labels])
    labels[:80] = rng.randint(3, size=80)
    found = assess_labels(torch.softmax(scores, dim=1).numpy(), labels)
    encoded, is_known = torch.from_numpy(labels), torch.ones(400, dtype=torch.bool)
    scaled = scale_temperature(scores.clone(), encoded, is_known)
    posterior = LabelPosterior(scaled, encoded, confident_only=True, shrunken=True)
    quality, suggested = posterior.label_quality(), posterior.assess_all().suggested
    np.testing.assert_allclose(found.quality, quality, rtol=1e-4)
    assert np.array_equal(found.suggested, suggested)


@given(labelled_probabilities(), st.randoms(use_true_random=False))
def test_other_names_and_orders_of_classes_give_the_same_report(drawn, random):
    probability, labels = drawn
    n_classes = probability.shape[1]
    names = [f"class {number}" for number in range(n_classes)]
    random.shuffle(names)
    renamed = np.array(names)[labels]
    ours = LabelReport.from_probabilities(probability, labels).frame
    other = LabelReport.from_probabilities(probability, renamed, classes=names).frame
    np.testing.assert_allclose(other["quality"], ours["quality"], rtol=1e-9)
    assert other["given"].tolist() == renamed.tolist()
    columns = pd.DataFrame(probability, columns=names, index=range(5, 5 + len(labels)))
    by_column = LabelReport.from_probabilities(columns, renamed).frame
    assert by_column["suggested"].tolist() == other["suggested"].tolist()
    assert by_column.index.tolist() == list(columns.index)


def test_wrong_labels_have_the_lowest_quality(probabilities):
    probability, y = probabilities
    report = LabelReport.from_probabilities(probability, y)
    assert np.mean(report.suspects(12).index < 12) > 0.7
    assert report.frame["is_safe"].tolist() == (report.frame["quality"] >= 0.5).tolist()
    assert report.method == "out-of-fold probabilities"
